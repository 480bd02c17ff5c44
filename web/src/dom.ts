// Elements made by calls, not from strings of markup, so that whatever a record contains stays text.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

/** An element with attributes, event listeners (`onclick: …`) and children. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined));
  return element;
}

/** A list to choose one value from, with its label. */
export function choice(label: string, options: [value: string, text: string][], onChange: (value: string) => void) {
  const select = h("select", { onchange: () => onChange(select.value) });
  for (const [value, text] of options) select.append(h("option", { value }, text));
  return { element: h("label", { class: "choice" }, `${label} `, select), select };
}

/** A section of the page with a title, an explanation and its content. */
export function section(id: string, title: string, about: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), h("p", { class: "about" }, about), ...children);
}
