#include "message/send_receive.h"
#include "message/arguments.h"

bool ek_send_receive_is_valid(const ek_send_receive *x, const ek_comm_entry *e)
{
    ek_elements elements;
    bool sends = x->dest != MPI_PROC_NULL, receives = x->source != MPI_PROC_NULL;
    return (sends || receives) &&
           (!sends ||
            (ek_message_rank_is_valid(e, x->dest, false) && ek_message_tag_is_valid(x->sent_tag, false) &&
             ek_elements_measure(&elements, x->sent_count, x->sent_type))) &&
           (!receives ||
            (ek_message_rank_is_valid(e, x->source, true) && ek_message_tag_is_valid(x->received_tag, true) &&
             ek_elements_measure(&elements, x->received_count, x->received_type)));
}

int ek_send_receive_start(const ek_send_receive *x, const ek_comm_entry *e, ek_transfer *in, ek_transfer *out)
{
    int code = MPI_SUCCESS;
    if (x->source != MPI_PROC_NULL)
        code = ek_transfer_receive(in, e, x->received, x->received_count, x->received_type, x->source,
                                   x->received_tag);
    if (!code && x->dest != MPI_PROC_NULL)
        code =
            ek_transfer_send(out, e, x->sent, x->sent_count, x->sent_type, x->dest, x->sent_tag, EK_STANDARD);
    return code == EK_DECLINED ? MPI_ERR_BUFFER : code;
}
