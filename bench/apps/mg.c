/* A multigrid solver after MG of the NAS parallel benchmarks (Bailey et al. 1994), as Pakin 2001 (sections
 * 3.1 and 5.2) ran it in BSP: V-cycles on Poisson's equation in a periodic cube, with a barrier after each
 * halo exchange. Stencils and charges are those of NAS, so that the residual norms published for its classes
 * must come out.
 *
 * The cube is cut into slabs of planes; a rank may have any number of planes. A coarse plane belongs to the
 * rank that has the fine plane in its place. On the coarsest levels most ranks have no plane, and wait. */
#include "app.h"
#include <math.h>

static parameter parameters[] = {
    {"grid", "32", "N", "points along an edge, a power of two (NAS classes: S 32, W 128, A 256)", 0},
    {"iterations", "4", "N", "V-cycles", 0},
    {"barriers", "yes", "no|yes", "a barrier after each halo exchange", 0},
    {"histogram", "no", "no|yes", "print the distribution of the times between barriers of rank 0", 0},
    {"log", "", "FILE", "write the nanoseconds between barriers of rank 0 to a file", 0},
    {"check", "serial", "serial|nas",
     "serial: compare with a run on one rank; nas: only with the published norm, if there is one", 0},
    {0}};

static app self = {"mg", "Multigrid V-cycles on a periodic cube.", parameters, 0, 0};

enum { MOST_LEVELS = 12, GHOSTS = 2 };

/* One level on one rank: planes first - 1 to first + count inclusive. The outer two are copies of the planes
 * of other ranks. */
typedef struct level {
    long n;            /* points along the edge */
    long row, plane;   /* doubles of a row and of a plane, each with a ghost at either end */
    long *firsts;      /* first plane of each rank, and n at the end */
    long first, count; /* of this rank */
    double *u, *r;     /* solution and residual */
} level;

typedef struct cube {
    int rank, ranks, levels; /* level 1 is the coarsest and has 2 points along the edge */
    level at[MOST_LEVELS + 1];
    double *v; /* the charges, on the finest level */
    MPI_Comm comm;
} cube;

/* ---- time between barriers ---- */

static uint64_t *gaps, last_barrier;
static long gap_count, gap_capacity, barriers;

static void barrier(const cube *c)
{
    if (c->ranks == 1 && c->comm == MPI_COMM_SELF) /* the serial check */
        return;
    uint64_t now = now_ns();
    if (gap_count < gap_capacity)
        gaps[gap_count++] = now - last_barrier;
    barriers++;
    MPI_Barrier(c->comm);
    last_barrier = now_ns();
}

/* ---- slabs and halos ---- */

/* The rank that has this plane. */
static int owner(const level *l, int ranks, long plane)
{
    int r = 0;
    while (r + 1 < ranks && l->firsts[r + 1] <= plane)
        r++;
    return r;
}

static double *plane_of(const level *l, double *field, long plane)
{
    return field + (plane - l->first + 1) * l->plane;
}

/* Coarse point k lies on fine point 2k + 1, so the coarse slab of fine planes from f begins at f / 2. */
static cube make(int rank, int ranks, MPI_Comm comm, long grid)
{
    cube c = {.rank = rank, .ranks = ranks, .comm = comm};
    for (long n = grid; n > 1; n /= 2)
        c.levels++;
    for (int i = c.levels; i >= 1; i--) {
        level *l = &c.at[i];
        l->n = 1l << i;
        l->row = l->n + GHOSTS;
        l->plane = l->row * l->row;
        l->firsts = allocate((size_t)ranks + 1, sizeof *l->firsts);
        for (int r = 0; r <= ranks; r++)
            l->firsts[r] = i == c.levels ? first_of(grid, ranks, r) : c.at[i + 1].firsts[r] / 2;
        l->first = l->firsts[rank];
        l->count = l->firsts[rank + 1] - l->first;
        l->u = allocate((size_t)((l->count + GHOSTS) * l->plane), sizeof *l->u);
        l->r = allocate((size_t)((l->count + GHOSTS) * l->plane), sizeof *l->r);
    }
    level *top = &c.at[c.levels];
    c.v = allocate((size_t)((top->count + GHOSTS) * top->plane), sizeof *c.v);
    return c;
}

static void drop(cube *c)
{
    for (int i = 1; i <= c->levels; i++) {
        free(c->at[i].firsts);
        free(c->at[i].u);
        free(c->at[i].r);
    }
    free(c->v);
}

/* Makes the edges of every plane periodic, and gets the planes below and above from the ranks that have them.
 * A rank without planes of this level gets two as well: it may have finer planes that are computed from them.
 */
static void halo(const cube *c, const level *l, double *field)
{
    long n = l->n, row = l->row;
    for (long k = l->first; k < l->first + l->count; k++) {
        double *p = plane_of(l, field, k);
        for (long y = 1; y <= n; y++) {
            p[y * row] = p[y * row + n];
            p[y * row + n + 1] = p[y * row + 1];
        }
        memcpy(p, p + n * row, (size_t)row * sizeof *p);
        memcpy(p + (n + 1) * row, p + row, (size_t)row * sizeof *p);
    }
    MPI_Request *requests = allocate(2 + 2 * (size_t)c->ranks, sizeof *requests);
    int posted = 0, bytes = (int)(l->plane * (long)sizeof *field);
    for (int r = 0; r < c->ranks; r++) {
        for (int side = 0; side < 2; side++) {
            long ghost = side ? l->firsts[r + 1] : l->firsts[r] - 1, wanted = (ghost + n) % n;
            int from = owner(l, c->ranks, wanted);
            double *to = plane_of(l, field, ghost), *mine = plane_of(l, field, wanted);
            if (r == c->rank && from == c->rank)
                memcpy(to, mine, (size_t)bytes);
            else if (r == c->rank)
                MPI_Irecv(to, bytes, MPI_BYTE, from, side, c->comm, &requests[posted++]);
            else if (from == c->rank)
                MPI_Isend(mine, bytes, MPI_BYTE, r, side, c->comm, &requests[posted++]);
        }
    }
    MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
    free(requests);
    if (app_is(&self, "barriers", "yes"))
        barrier(c);
}

/* ---- stencils ---- */

/* Sums over the neighbours of a point: 6 share a face with it, 12 an edge, 8 a corner. */
typedef struct around {
    double faces, edges, corners;
} around;

static inline around neighbours(const level *l, const double *p)
{
    long y = l->row, z = l->plane;
    around a;
    a.faces = p[-1] + p[1] + p[-y] + p[y] + p[-z] + p[z];
    a.edges = p[-y - 1] + p[-y + 1] + p[y - 1] + p[y + 1] + p[-z - 1] + p[-z + 1] + p[z - 1] + p[z + 1] +
              p[-z - y] + p[-z + y] + p[z - y] + p[z + y];
    a.corners = p[-z - y - 1] + p[-z - y + 1] + p[-z + y - 1] + p[-z + y + 1] + p[z - y - 1] + p[z - y + 1] +
                p[z + y - 1] + p[z + y + 1];
    return a;
}

#define EACH_OWN_POINT(l, k, y, x)                              \
    for (long k = (l)->first; k < (l)->first + (l)->count; k++) \
        for (long y = 1; y <= (l)->n; y++)                      \
            for (long x = 1; x <= (l)->n; x++)

/* r = v - A u. v and r may be the same field. */
static void residual(const cube *c, level *l, double *v)
{
    EACH_OWN_POINT(l, k, y, x)
    {
        double *u = plane_of(l, l->u, k) + y * l->row + x;
        around a = neighbours(l, u);
        long at = (k - l->first + 1) * l->plane + y * l->row + x;
        l->r[at] = v[at] + 8.0 / 3.0 * *u - a.edges / 6.0 - a.corners / 12.0;
    }
    halo(c, l, l->r);
}

/* u += S r: one step of an approximate inverse, with the weights of NAS classes S, W and A. */
static void smooth(const cube *c, level *l)
{
    EACH_OWN_POINT(l, k, y, x)
    {
        double *r = plane_of(l, l->r, k) + y * l->row + x;
        around a = neighbours(l, r);
        plane_of(l, l->u, k)[y * l->row + x] += -3.0 / 8.0 * *r + a.faces / 32.0 - a.edges / 64.0;
    }
    halo(c, l, l->u);
}

/* The residual on the next coarser level: weighted means around every second point. */
static void restrict_to(const cube *c, level *coarse, const level *fine)
{
    EACH_OWN_POINT(coarse, k, y, x)
    {
        double *r = plane_of(fine, fine->r, 2 * k + 1) + 2 * y * fine->row + 2 * x;
        around a = neighbours(fine, r);
        plane_of(coarse, coarse->r, k)[y * coarse->row + x] =
            *r / 2 + a.faces / 4 + a.edges / 8 + a.corners / 16;
    }
    halo(c, coarse, coarse->r);
}

/* Adds the u of the next coarser level to u, linearly interpolated between its points. */
static void interpolate(const cube *c, level *fine, const level *coarse)
{
    EACH_OWN_POINT(fine, k, y, x)
    {
        long low[3] = {k % 2 ? k / 2 : k / 2 - 1, y / 2, x / 2};
        int between[3] = {k % 2 == 0, y % 2, x % 2};
        double sum = 0;
        for (int i = 0; i < 8; i++) {
            int up[3] = {i >> 2, i >> 1 & 1, i & 1};
            if (up[0] <= between[0] && up[1] <= between[1] && up[2] <= between[2])
                sum += plane_of(coarse, coarse->u,
                                low[0] + up[0])[(low[1] + up[1]) * coarse->row + low[2] + up[2]];
        }
        plane_of(fine, fine->u, k)[y * fine->row + x] += sum / (1 << (between[0] + between[1] + between[2]));
    }
    halo(c, fine, fine->u);
}

static void clear(level *l) { memset(l->u, 0, (size_t)((l->count + GHOSTS) * l->plane) * sizeof *l->u); }

static void v_cycle(cube *c)
{
    level *top = &c->at[c->levels];
    for (int i = c->levels; i > 1; i--)
        restrict_to(c, &c->at[i - 1], &c->at[i]);
    if (c->levels > 1) {
        clear(&c->at[1]);
        smooth(c, &c->at[1]);
    }
    for (int i = 2; i < c->levels; i++) {
        clear(&c->at[i]);
        interpolate(c, &c->at[i], &c->at[i - 1]);
        residual(c, &c->at[i], c->at[i].r);
        smooth(c, &c->at[i]);
    }
    if (c->levels > 1) {
        interpolate(c, top, &c->at[c->levels - 1]);
        residual(c, top, c->v);
    }
    smooth(c, top);
}

/* ---- the problem ---- */

typedef struct charge {
    uint64_t value;
    long index;
} charge;

/* As in NAS: random numbers are drawn for all points in order, x fastest. The points of the ten largest get
 * the charge +1, those of the ten smallest -1. */
static void place_charges(cube *c)
{
    enum { TEN = 10 };
    level *top = &c->at[c->levels];
    charge largest[TEN], smallest[TEN];
    long points = top->n * top->n * top->n, ten = points / 2 < TEN ? points / 2 : TEN;
    const uint64_t a = 1220703125u, mask = (1ull << 46) - 1;
    uint64_t x = 314159265u;
    for (long i = 0; i < ten; i++) {
        largest[i] = (charge){0, -1};
        smallest[i] = (charge){UINT64_MAX, -1};
    }
    for (long i = 0; i < points; i++) {
        x = x * a & mask;
        charge moved = {x, i};
        for (long j = ten - 1; j >= 0 && moved.value > largest[j].value; j--) {
            if (j + 1 < ten)
                largest[j + 1] = largest[j];
            largest[j] = moved;
        }
        for (long j = ten - 1; j >= 0 && moved.value < smallest[j].value; j--) {
            if (j + 1 < ten)
                smallest[j + 1] = smallest[j];
            smallest[j] = moved;
        }
    }
    for (long i = 0; i < 2 * ten; i++) {
        long index = i < ten ? largest[i].index : smallest[i - ten].index, k = index / (top->n * top->n);
        if (k >= top->first && k < top->first + top->count)
            plane_of(top, c->v, k)[(index / top->n % top->n + 1) * top->row + index % top->n + 1] =
                i < ten ? 1 : -1;
    }
}

/* The norm of the residual after the iterations, and a weighted sum of |u| that depends on the place of every
 * value. Both are the same on all ranks. */
typedef struct answer {
    double norm, sum;
} answer;

static answer run(cube *c, long iterations)
{
    level *top = &c->at[c->levels];
    place_charges(c);
    halo(c, top, c->v);
    residual(c, top, c->v);
    for (long i = 0; i < iterations; i++) {
        v_cycle(c);
        residual(c, top, c->v);
    }
    double mine[2] = {0}, all[2] = {0};
    EACH_OWN_POINT(top, k, y, x)
    {
        long at = (k - top->first + 1) * top->plane + y * top->row + x;
        mine[0] += top->r[at] * top->r[at];
        mine[1] += fabs(top->u[at]) * (1 + (double)(((k * top->n + y) * top->n + x) % 1009));
    }
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, c->comm);
    return (answer){sqrt(all[0] / ((double)top->n * (double)top->n * (double)top->n)), all[1]};
}

/* The absolute part of the tolerance is for the smallest grids, whose norm is rounding noise. */
static int near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * fabs(b) + 1e-13; }

/* The norm published with the NAS benchmarks, or 0 if there is none. */
static double published(long grid, long iterations)
{
    if (iterations != 4)
        return 0;
    return grid == 32    ? 0.5307707005734e-04
           : grid == 128 ? 0.6467329375339e-05
           : grid == 256 ? 0.2433365309069e-05
                         : 0;
}

/* Whether the answer is the published one, where there is one, and the one that a single rank finds. Only
 * rank 0 checks; all ranks have the same answer. */
static int check(answer got, long grid, long iterations)
{
    if (self.rank != 0)
        return 1;
    double norm = published(grid, iterations);
    int right = norm == 0 || near(got.norm, norm, 1e-8);
    if (app_is(&self, "check", "serial")) {
        cube alone = make(0, 1, MPI_COMM_SELF, grid);
        answer want = run(&alone, iterations);
        drop(&alone);
        right = right && near(got.norm, want.norm, 1e-9) && near(got.sum, want.sum, 1e-9);
        if (!right)
            fprintf(stderr, "mg: norm %.13e, sum %.13e; one rank alone finds %.13e, %.13e\n", got.norm,
                    got.sum, want.norm, want.sum);
    }
    return right;
}

static void print_gaps(void)
{
    histogram h = {{0}};
    for (long i = 0; i < gap_count; i++)
        histogram_add(&h, gaps[i]);
    histogram_print(&h, "gap");
}

static void write_gaps(const char *path)
{
    FILE *f = fopen(path, "w");
    for (long i = 0; f && i < gap_count; i++)
        fprintf(f, "%llu\n", (unsigned long long)gaps[i]);
    if (!f || fclose(f) != 0)
        fprintf(stderr, "mg: cannot write %s\n", path);
}

int main(int argc, char **argv)
{
    app_start(&self, &argc, &argv);
    long grid = app_size(&self, "grid", 2), iterations = app_size(&self, "iterations", 1);
    if ((grid & (grid - 1)) != 0 || grid >= 1l << MOST_LEVELS)
        app_refuse(&self, "grid is %ld, but must be a power of two up to %ld", grid, 1l << (MOST_LEVELS - 1));
    gap_capacity = 100 + 40 * MOST_LEVELS * iterations;
    gaps = allocate((size_t)gap_capacity, sizeof *gaps);
    cube c = make(self.rank, self.ranks, MPI_COMM_WORLD, grid);
    uint64_t start = last_barrier = start_together_ns();
    answer got = run(&c, iterations);
    double seconds = (double)(now_ns() - start) / 1e9, norm = published(grid, iterations);
    drop(&c);

    int right = check(got, grid, iterations);
    if (self.rank == 0 && app_is(&self, "histogram", "yes"))
        print_gaps();
    if (self.rank == 0 && *app_text(&self, "log"))
        write_gaps(app_text(&self, "log"));
    free(gaps);
    const char *nas = norm == 0 ? "none" : near(got.norm, norm, 1e-8) ? "same" : "other";
    return app_finish(&self, right, seconds, "grid=%ld iterations=%ld norm=%.13e nas=%s barriers=%ld", grid,
                      iterations, got.norm, nas, barriers);
}
