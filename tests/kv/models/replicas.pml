/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protocol by which nodes get and give up copies of a store's key, also together with the moves of the main copy, of
 * which relocation.pml is the larger model. run_models.py checks it with Spin.
 *
 * There is one key. Its main copy is at the key's home or at one of the nodes 1..NODES. Each node has an agent and a
 * worker; with NODES=1 WORKERS=3, node 1 has two workers. The agent may ask for a copy, at most ASKS times, and for the
 * main copy, at most MOVES times. It may drop what it has at any time. A node whose main copy is recalled may keep it
 * as a copy: SHARE. The home may recall the main copy for its own node, at most RECALLS times. The home's node has worker 0. A worker starts
 * OPERATIONS operations, each a push, a pull or a set, and waits for them in any order. At most WINDOW of its
 * operations are unanswered, that is, started and not waited for. A push adds to the value, a set replaces it. Only the
 * workers in the mask SETTERS set, each at most once. The home works on one operation of a worker at a time.
 *
 * A copy is `base` (a value of the main copy), `sent` and `unsent` (pushes of this node). A pull from a copy reads all
 * three together. A push to a copy adds to `unsent`. Sets, and all operations of a node that has nothing, go to the
 * home. The home recalls the copy of a worker's node before it does an operation of that worker. It recalls all copies
 * before a set and before it grants the main copy. It grants nothing while operations wait.
 *
 * With BARRIER, each worker enters a barrier after BARRIER operations, when all of them are answered. The barrier opens
 * when all pushes of all nodes are in the main copy. Then the agent of a node that has a copy or has asked for
 * something sends SYNC; the node's workers go on after SYNCED. Workers of other nodes go on at once.
 *
 * Channels:
 *   to_home[n]     control session from node n to the home, in order: ASK, DELTA(pushes, number), LAST(pushes),
 *                  ACQUIRE, RETURN, SHARE, SYNC
 *   to_node[n]     control session from the home to node n, in order: GRANT(value), GRANT_MAIN, RECALL,
 *                  REFRESH(value, number of the node's last DELTA in it), FORWARD(worker of an operation), SYNCED
 *   reply[w]       answer to FORWARD: DONE or BOUNCE; in no order relative to to_home
 *   operations[w]  session from worker w to the home, in order
 * The home answers a worker by clearing a bit of in_session[w], and DELTA and LAST by lowering unanswered[n]. A reader
 * that looks later stands for a slow answer.
 *
 * A value is the number of sets that the main copy has seen, and a bit for each push since the last of them. ACQUIRE
 * and RETURN do not carry it: `main` is the value wherever the main copy is. relocation.pml checks the records.
 *
 * Checked properties:
 *   - each push is added to the main copy once: assertions in add() and init
 *   - a set replaces all pushes that were done before it started, and none of its worker's later ones: replace()
 *   - a pull contains its worker's earlier pushes since the last set, each once, and all that the worker has seen
 *     before; a pull that starts after a set was answered contains that set; a pull after a barrier contains all
 *     pushes before the barrier: read()
 *   - there is at most one main copy: assertions where it arrives
 *   - each operation and each request for a copy is answered: no invalid end state
 *   - at the end each copy that is left is equal to the main copy: assertions in init
 *   - the control sessions need no more room than their channels have: assertions before the sends
 *
 * Macros of wrong rules; each one breaks a property:
 *   EPOCH          A set is done at once. The home discards later deltas that are based on an older value.
 *   SET_FIRST      A set replaces the value before the recalled copies' last deltas have come.
 *   NO_RECALL      The home does an operation although the worker's node has a copy.
 *   GRANT_EARLY    The home grants copies while operations wait.
 *   SHARE_HELD     After SHARE, the home does not recall copies for operations that wait already.
 *   MOVE_EARLY     The home grants the main copy while nodes have copies.
 *   READ_COPY      A worker uses its node's copy while older operations are in its session.
 *   DROP_SENT      REFRESH ends `sent` though it does not contain that DELTA.
 *   TWO_DELTAS     A node sends a DELTA before a REFRESH with the DELTA before it has come.
 *   OLD_NUMBER     Nodes number the deltas of each copy from 1, and the home keeps the last copy's number.
 *   BARRIER_LAST   The barrier waits for answers to DELTA, but not to LAST.
 *   BARRIER_STALE  No SYNC: a worker goes on as soon as the barrier is open.
 *   BARRIER_ASKED  An agent that has asked and not been answered sends no SYNC.
 *   BARRIER_REPLY  SYNCED travels in another channel than REFRESH and GRANT.
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef OPERATIONS
#define OPERATIONS 2 /* of each worker */
#endif
#ifndef HOME_OPERATIONS
#define HOME_OPERATIONS OPERATIONS /* of worker 0 */
#endif
#ifndef ASKS
#define ASKS 1 /* of each node, for a copy */
#endif
#ifndef MOVES
#define MOVES 0 /* how often each node asks for the main copy */
#endif
#ifndef RECALLS
#define RECALLS 0 /* of the main copy, for the home's node */
#endif
#ifndef SETTERS
#define SETTERS 2 /* worker 1 */
#endif
#ifndef BARRIER
#define BARRIER 0 /* none */
#endif

#define BIT(i) (1 << (i))
#define NUMBER_OF_OPERATIONS(w) (w == 0 -> HOME_OPERATIONS : OPERATIONS)
#ifndef WORKERS
#define WORKERS (NODES + 1) /* 3 with NODES=1: workers 1 and 2 are at node 1 */
#endif
#if NODES == 1
#define NODE(w) ((w) > 0)
#define WORKERS_OF(n) (BIT(WORKERS) - 2)
#else
#define NODE(w) (w)
#define WORKERS_OF(n) BIT(n)
#endif

#if NODES > 2 || WORKERS > 3 || OPERATIONS > 3 || HOME_OPERATIONS > 3
#error "a value has three bits for each of three workers"
#endif

/* A value: pushes in bits 0..8, number of sets in bits 9 and 10. A message has a DELTA's number in bits 11 and 12. */
#define PUSHES(value) ((value) & 511)
#define SETS(value) (((value) >> 9) & 3)
#define VALUE(message) ((message) & 2047)
#define NUMBER(message) ((message) >> 11)
#define PUSH_BIT(w, i) BIT(3 * (w) + (i) - 1)
#define OLDER(w, i) ((BIT((i) - 1) - 1) << (3 * (w)))
#define NEWER(w, i) (((7 << (i)) & 7) << (3 * (w)))

mtype = { ASK, DELTA, LAST, ACQUIRE, RETURN, SHARE, SYNC };
mtype = { GRANT, GRANT_MAIN, RECALL, REFRESH, FORWARD, SYNCED };
mtype = { DONE, BOUNCE, FORWARDED, HELD };
mtype = { PUSH, PULL, SET };

chan to_home[WORKERS] = [5] of { mtype, short };
chan to_node[WORKERS] = [NODES + 6] of { mtype, short };
chan reply[WORKERS] = [1] of { mtype };
chan operations[WORKERS] = [WINDOW] of { mtype, byte };
#define REFRESH_ROOM 2 /* REFRESH is sent only if fewer messages are under way; this keeps the number of states small */

short main = 0; /* value of the main copy, wherever it is */

/* State of the home. */
byte holder = 0; /* node that holds the main copy or that the copy is on its way to or from; 0: the home has the copy */
bool recalling = false; /* the holder has been sent RECALL */
byte sharers = 0;       /* nodes with copies */
byte recalled = 0;      /* sharers that have been sent RECALL */
byte stale = 0;         /* sharers that have not been sent the newest value */
byte received[WORKERS]; /* number of the node's last DELTA */
chan wishes = [NODES] of { mtype, byte }; /* ASK or ACQUIRE, node */
byte recalls = 0; /* for the home's node */
byte waiting = 0; /* number of workers whose progress is not 0 */
mtype progress[WORKERS], head[WORKERS]; /* of the operation that the home works on */
byte head_number[WORKERS];
#define HERE (holder == 0)

/* State of the nodes. */
bool has_copy[WORKERS], has_main[WORKERS];
short base[WORKERS], sent[WORKERS], unsent[WORKERS];
byte unanswered[WORKERS]; /* DELTA and LAST that the home has not seen */

/* State of the workers. */
byte started[WORKERS]; /* number of operations; the next two are bits of operations */
byte in_session[WORKERS];  /* sent to the home and not answered */
byte since_grant[WORKERS]; /* unanswered, and the node's grant counter has not changed since their start */
byte entered = 0; /* workers that are at the barrier */
byte arrived = 0; /* nodes whose workers are at the barrier and whose pushes are in the main copy */
byte synced = 0;  /* nodes whose workers may go on */
#define ALL_NODES (BIT(NODES + 1) - 1)

/* For the checks. */
short made = 0;         /* pushes that have been started */
short added = 0;        /* pushes that have been added to the main copy */
short promised = 0;     /* pushes before the barrier */
short before[WORKERS];  /* pushes that were done when the worker's set started */
short seen[WORKERS];    /* value of the worker's last pull, with its number in bits 11 and 12 */
byte setters = SETTERS; /* workers that may still set */
byte answered_sets = 0;
#ifdef EPOCH
short kept = 0; /* pushes that were started after the last set was answered */
#endif
#define REPLACED (added & ~PUSHES(main))
#if WORKERS == 2
#define PUSHES_IN_SESSION ((in_session[0] >> 1) | ((in_session[1] >> 1) << 3))
#else
#define PUSHES_IN_SESSION ((in_session[0] >> 1) | ((in_session[1] >> 1) << 3) | ((in_session[2] >> 1) << 6))
#endif

hidden byte next; /* these two are used within one step */
hidden short value;

inline add(pushes) {
  assert(!(added & (pushes)));
  added = added | (pushes);
  main = main | (pushes);
  stale = sharers
}

inline replace(w, i) {
  assert(!(added & NEWER(w, i)));
#ifndef EPOCH
  assert(!((before[w] | (made & OLDER(w, i))) & ~added));
#endif
  before[w] = 0;
  main = (SETS(main) + 1) << 9;
  stale = sharers
}

inline read(w, i, value) {
  assert(!(value & NEWER(w, i)));
  assert(i > NUMBER(seen[w]));
  if
  :: SETS(value) == SETS(main) ->
    assert(!(((made & OLDER(w, i)) | promised | PUSHES(seen[w])) & ~REPLACED & ~(value)))
  :: else -> assert(SETS(value) >= answered_sets && SETS(value) >= SETS(seen[w]))
  fi;
  seen[w] = (i == NUMBER_OF_OPERATIONS(w) -> 0 : (value) | (i << 11))
}

inline do_on_main(w, kind, i) {
  if
  :: kind == PUSH -> add(PUSH_BIT(w, i))
  :: kind == PULL -> read(w, i, main)
  :: kind == SET ->
#ifdef SET_FIRST
    if
    :: before[w] >= 0 -> replace(w, i)
    :: else
    fi;
    before[w] = 0;
#else
    replace(w, i);
#endif
#ifdef EPOCH
    kept = 0;
#endif
    answered_sets = SETS(main)
  fi
}

inline send_to_node(receiver, kind, message) {
  assert(nfull(to_node[receiver]));
  to_node[receiver] ! kind, message
}

inline send_grant(n) {
  assert(HERE && !(sharers & BIT(n)));
  sharers = sharers | BIT(n);
#ifndef OLD_NUMBER
  received[n] = 0;
#endif
  send_to_node(n, GRANT, main)
}

inline send_refresh(n) {
  stale = stale & ~BIT(n);
  send_to_node(n, REFRESH, main | (received[n] << 11))
}

/* Sharers whose copies must be gone before an operation of worker w is done. */
#define IN_THE_WAY(w, kind) (sharers & ((kind == SET) * ALL_NODES | BIT(NODE(w))))
#if defined(EPOCH)
#define MUST_WAIT(w, kind) (kind != SET && IN_THE_WAY(w, kind))
#elif defined(NO_RECALL)
#define MUST_WAIT(w, kind) (kind == SET && IN_THE_WAY(w, kind))
#else
#define MUST_WAIT(w, kind) IN_THE_WAY(w, kind)
#endif

inline send_recalls(nodes) {
  value = nodes & ~recalled;
  recalled = recalled | value;
  for (next : 1 .. NODES) {
    if
    :: value & BIT(next) -> send_to_node(next, RECALL, 0)
    :: else
    fi
  };
  next = 0 /* a loop must not end a step */
}

/* Operations that have waited for the main copy may wait for copies now. */
inline recall_for_held() {
#ifndef SHARE_HELD
  if
  :: progress[0] == HELD && MUST_WAIT(0, head[0]) -> send_recalls(IN_THE_WAY(0, head[0]))
  :: else
  fi;
  if
  :: progress[1] == HELD && MUST_WAIT(1, head[1]) -> send_recalls(IN_THE_WAY(1, head[1]))
  :: else
  fi;
  if
  :: progress[WORKERS - 1] == HELD && MUST_WAIT(WORKERS - 1, head[WORKERS - 1]) ->
    send_recalls(IN_THE_WAY(WORKERS - 1, head[WORKERS - 1]))
  :: else
  fi
#else
  skip
#endif
}

inline recall_main() {
  recalling = true;
  send_to_node(holder, RECALL, 0)
}

#ifdef GRANT_EARLY
#define MAY_GRANT HERE
#else
#define MAY_GRANT (HERE && waiting == 0)
#endif
#ifdef MOVE_EARLY
#define MAY_MOVE true
#else
#define MAY_MOVE (sharers == 0)
#endif

inline serve_wishes() {
  do
  :: MAY_GRANT && len(wishes) > 0 ->
    if
    :: wishes ? [ASK, _] -> wishes ? _, next; send_grant(next)
    :: wishes ? [ACQUIRE, _] ->
      if
      :: MAY_MOVE ->
        wishes ? _, holder;
        send_to_node(holder, GRANT_MAIN, 0);
        if
        :: len(wishes) > 0 -> recall_main()
        :: else
        fi
      :: else -> send_recalls(sharers); break
      fi
    fi
  :: else -> break
  od;
  next = 0
}

inline add_wish(kind, n) {
  assert(holder != n && !(sharers & BIT(n)));
  wishes ! kind, n;
  if
  :: !HERE && !recalling -> recall_main()
  :: else
  fi;
  serve_wishes()
}

inline answer(w) {
  in_session[w] = in_session[w] & ~BIT(head_number[w]);
  head[w] = 0;
  head_number[w] = 0
}

inline finish_waiting(w) {
  answer(w);
  progress[w] = 0;
  waiting--;
  serve_wishes()
}

inline add_delta(message) {
#ifdef EPOCH
  if
  :: SETS(message) != SETS(main) ->
    assert(!(message & kept));
    added = added | PUSHES(message);
    stale = sharers
  :: else -> add(PUSHES(message))
  fi
#else
  add(PUSHES(message))
#endif
}

/* Steps of the home for the messages of node w: of its agent and of its worker. */
proctype Home(byte w) {
end: do
  :: d_step { to_home[w] ? ASK, _ -> add_wish(ASK, w) }
  :: d_step { to_home[w] ? ACQUIRE, _ -> add_wish(ACQUIRE, w) }
  :: d_step { to_home[w] ? RETURN, _ ->
      assert(holder == w && !has_main[1] && !has_main[NODES]);
      holder = 0;
      recalling = false;
      serve_wishes() }
  :: d_step { to_home[w] ? SHARE, _ ->
      assert(holder == w && !has_main[1] && !has_main[NODES]);
      holder = 0;
      recalling = false;
      sharers = sharers | BIT(w);
      received[w] = 0;
      recall_for_held();
      serve_wishes() }
  :: d_step { w == 1 && !HERE && !recalling && recalls < RECALLS -> recalls++; recall_main() }
  :: d_step { to_home[w] ? DELTA, value ->
      assert(sharers & BIT(w));
      unanswered[w]--;
      received[w] = NUMBER(value);
      add_delta(value) }
  :: d_step { to_home[w] ? LAST, value ->
      assert(sharers & BIT(w));
#ifndef BARRIER_LAST
      unanswered[w]--;
#endif
      sharers = sharers & ~BIT(w);
      recalled = recalled & ~BIT(w);
      stale = stale & ~BIT(w);
#ifndef OLD_NUMBER
      received[w] = 0;
#endif
      add_delta(value);
      serve_wishes() }
#if BARRIER
  :: d_step { to_home[w] ? SYNC, _ ->
      if
      :: stale & ~recalled & BIT(w) -> send_refresh(w)
      :: else
      fi;
#ifdef BARRIER_REPLY
      synced = synced | BIT(w)
#else
      send_to_node(w, SYNCED, 0)
#endif
    }
#endif
  /* A recalled copy needs no REFRESH: it is gone when the message arrives. */
  :: d_step { (stale & ~recalled & BIT(w)) && len(to_node[w]) < REFRESH_ROOM -> send_refresh(w) }
  :: d_step { head[w] == 0 && nempty(operations[w]) ->
      operations[w] ? head[w], head_number[w];
      if
      :: HERE && !MUST_WAIT(w, head[w]) -> do_on_main(w, head[w], head_number[w]); answer(w)
      :: HERE && MUST_WAIT(w, head[w]) ->
        waiting++;
        progress[w] = HELD;
        send_recalls(IN_THE_WAY(w, head[w]))
#ifdef SET_FIRST
        ;
        if
        :: head[w] == SET -> replace(w, head_number[w]); before[w] = -1
        :: else
        fi
#endif
      :: !HERE && !recalling -> waiting++; progress[w] = FORWARDED; send_to_node(holder, FORWARD, w)
      :: !HERE && recalling -> waiting++; progress[w] = HELD
      fi }
  :: d_step { progress[w] == HELD && HERE && !MUST_WAIT(w, head[w]) ->
      do_on_main(w, head[w], head_number[w]);
      finish_waiting(w) }
  :: d_step { reply[w] ? DONE -> assert(progress[w] == FORWARDED); finish_waiting(w) }
  :: d_step { reply[w] ? BOUNCE -> assert(progress[w] == FORWARDED); progress[w] = HELD }
  od
}

#ifdef EPOCH
#define SETS_OF_BASE(n) (base[n] & ~511)
#else
#define SETS_OF_BASE(n) 0
#endif

inline send_to_home(n, kind, message) {
  assert(nfull(to_home[n]));
  to_home[n] ! kind, message
}

#ifdef BARRIER_LAST
#define COUNT_LAST skip
#else
#define COUNT_LAST unanswered[n]++
#endif

inline drop(n) {
  if
  :: has_main[n] -> send_to_home(n, RETURN, 0)
  :: else -> send_to_home(n, LAST, unsent[n] | SETS_OF_BASE(n)); COUNT_LAST
  fi;
  has_main[n] = false;
  has_copy[n] = false;
  base[n] = 0;
  sent[n] = 0;
  unsent[n] = 0;
  keeps = false;
  number = 0;
  /* The next grant would clear these; one value keeps the number of states small. */
  since_grant[n] = 0;
  since_grant[WORKERS - 1] = (NODES == 1 -> 0 : since_grant[WORKERS - 1])
}

inline keep_as_copy(n) {
  send_to_home(n, SHARE, 0);
  has_main[n] = false;
  has_copy[n] = true;
  base[n] = main;
  number = 0
}

/* Steps of a barrier in all states of a node, and those in states with and without a value that may be old. */
#if BARRIER
#define BARRIER_STEPS \
  :: d_step { !(arrived & BIT(n)) && (entered & WORKERS_OF(n)) == WORKERS_OF(n) && \
              unsent[n] == 0 && unanswered[n] == 0 -> \
      arrived = arrived | BIT(n); \
      promised = (arrived == ALL_NODES -> made : 0) } \
  :: d_step { to_node[n] ? SYNCED, _ -> synced = synced | BIT(n) }
#define SYNC_STEPS BARRIER_STEPS \
  :: d_step { arrived == ALL_NODES && !asked_sync -> asked_sync = true; send_to_home(n, SYNC, 0) }
#define NO_SYNC_STEPS BARRIER_STEPS \
  :: d_step { arrived == ALL_NODES && !asked_sync -> asked_sync = true; synced = synced | BIT(n) }
#else
#define SYNC_STEPS
#define NO_SYNC_STEPS
#endif
#ifdef BARRIER_ASKED
#define SYNC_STEPS_IF_ASKED NO_SYNC_STEPS
#else
#define SYNC_STEPS_IF_ASKED SYNC_STEPS
#endif

#ifdef TWO_DELTAS
#define MAY_SEND true
#else
#define MAY_SEND (sent[n] == 0)
#endif
#ifdef DROP_SENT
#define CONTAINS_SENT(message) true
#else
#define CONTAINS_SENT(message) (NUMBER(message) == number)
#endif

/* The labels are the states of the node: NONE, ASKED, COPY and MAIN. */
proctype Agent(byte n) {
  byte asked = 0, moved = 0, number = 0;
  bool keeps = false; /* No expiry: Spin finds operations and wishes that only an expiry would help. */
  bool asked_sync = false;
end_none: do
  :: atomic { asked < ASKS -> asked++; send_to_home(n, ASK, 0); goto asking }
  :: atomic { moved < MOVES -> moved++; send_to_home(n, ACQUIRE, 0); goto asking }
  :: d_step { to_node[n] ? RECALL, _ } /* a LAST or RETURN is on its way */
  :: d_step { to_node[n] ? REFRESH, _ }
  :: d_step { to_node[n] ? FORWARD, next -> reply[next] ! BOUNCE; next = 0 }
  NO_SYNC_STEPS
  od;
asking: do
  :: atomic { to_node[n] ? GRANT, base[n] ->
      has_copy[n] = true;
      if
      :: keeps = true
      :: keeps = false
      fi;
      goto end_copy }
  :: atomic { to_node[n] ? GRANT_MAIN, _ ->
      assert(holder == n && !has_main[1] && !has_main[NODES]);
      has_main[n] = true;
      if
      :: keeps = true
      :: keeps = false
      fi;
      goto end_main }
  :: d_step { to_node[n] ? RECALL, _ } /* a LAST or RETURN is on its way */
  :: d_step { to_node[n] ? REFRESH, _ }
  :: d_step { to_node[n] ? FORWARD, next -> reply[next] ! BOUNCE; next = 0 }
  SYNC_STEPS_IF_ASKED
  od;
end_copy: do
  :: d_step { unsent[n] && MAY_SEND ->
      number = (number + 1) & 3;
      unanswered[n]++;
      send_to_home(n, DELTA, unsent[n] | SETS_OF_BASE(n) | (number << 11));
      sent[n] = sent[n] | unsent[n];
      unsent[n] = 0 }
  :: d_step { to_node[n] ? REFRESH, value ->
      base[n] = VALUE(value);
      if
      :: CONTAINS_SENT(value) -> sent[n] = 0
      :: else
      fi }
  :: atomic { !keeps -> drop(n); goto end_none }
  :: atomic { to_node[n] ? RECALL, _ -> drop(n); goto end_none }
  SYNC_STEPS
  od;
end_main: do
  :: d_step { to_node[n] ? FORWARD, next ->
      do_on_main(next, head[next], head_number[next]);
      reply[next] ! DONE;
      next = 0 }
  :: atomic { !keeps -> drop(n); goto end_none }
  :: atomic { to_node[n] ? RECALL, _ ->
      if
      :: drop(n); goto end_none
      :: keep_as_copy(n); goto end_copy
      fi }
  NO_SYNC_STEPS
  od
}

/* The worker of a node that has a copy uses it if no unanswered operation can be in its session:
 *   - the node's grant counter has not changed since the oldest unanswered operation was started
 *   - the newest operation that was sent although the node had a copy (detour) is answered */
#define OLDEST (open & -open)
#define HAS_ANY (has_copy[n] || has_main[n])
#ifdef READ_COPY
#define MAY_USE HAS_ANY
#else
#define MAY_USE (HAS_ANY && (open == 0 || ((since_grant[w] & OLDEST) && !(open & BIT(detour)))))
#endif
#define MAY_USE_MAIN (w == 0 -> HERE && in_session[0] == 0 && !(kind == SET && sharers) : has_main[n] && MAY_USE)
#define MAY_USE_COPY (has_copy[n] && MAY_USE)

#define UNANSWERED (((open >> 1) & 1) + ((open >> 2) & 1) + ((open >> 3) & 1))
#define ANSWERED(i) (open & ~in_session[w] & BIT(i))

inline wait(i) {
  open = open & ~BIT(i);
  since_grant[w] = since_grant[w] & ~BIT(i);
  if
  :: detour == i -> detour = 0
  :: else
  fi
}

#ifdef BARRIER_STALE
#define MAY_GO_ON (arrived == ALL_NODES)
#else
#define MAY_GO_ON (w == 0 -> arrived == ALL_NODES : synced & BIT(NODE(w)))
#endif
#if BARRIER > HOME_OPERATIONS
#define AFTER(w) (w == 0 -> HOME_OPERATIONS : BARRIER)
#else
#define AFTER(w) BARRIER
#endif
#if BARRIER
#define AT_BARRIER (started[w] == AFTER(w) && !MAY_GO_ON)
#else
#define AT_BARRIER false
#endif

/* A worker waits for operations just before it starts another one. Earlier waits would make no difference to others. */
proctype Worker(byte w) {
  byte open = 0, detour = 0; /* open: bits of unanswered operations */
  mtype kind;
  byte n = NODE(w);
end: do
#if BARRIER
  :: d_step { started[w] == AFTER(w) && !(entered & BIT(w)) && in_session[w] == 0 ->
      open = 0;
      since_grant[w] = 0;
      detour = 0;
      entered = entered | BIT(w);
      if
      :: w == 0 -> arrived = arrived | 1; promised = (arrived == ALL_NODES -> made : 0)
      :: else
      fi }
#endif
  :: atomic { !AT_BARRIER && started[w] < NUMBER_OF_OPERATIONS(w) && (UNANSWERED < WINDOW || (open & ~in_session[w])) ->
      do
      :: ANSWERED(1) -> wait(1)
      :: ANSWERED(2) -> wait(2)
      :: ANSWERED(3) -> wait(3)
      :: UNANSWERED < WINDOW -> break
      od;
      if
      :: kind = PUSH
      :: kind = PULL
      :: setters & BIT(w) -> kind = SET; setters = setters & ~BIT(w)
      fi;
      d_step {
        started[w]++;
        if
        :: kind == PUSH ->
          made = made | PUSH_BIT(w, started[w]);
#ifdef EPOCH
          if
          :: answered_sets > 0 -> kept = kept | PUSH_BIT(w, started[w])
          :: else
          fi
#endif
        :: kind == SET -> before[w] = made & ~PUSHES_IN_SESSION
        :: else
        fi;
        if
        :: MAY_USE_MAIN -> do_on_main(w, kind, started[w])
        :: MAY_USE_COPY && kind == PUSH -> unsent[n] = unsent[n] | PUSH_BIT(w, started[w])
        :: MAY_USE_COPY && kind == PULL ->
          assert(!(base[n] & sent[n]) && !(base[n] & unsent[n]) && !(sent[n] & unsent[n]));
          value = base[n] | sent[n] | unsent[n];
          read(w, started[w], value)
        :: else ->
          in_session[w] = in_session[w] | BIT(started[w]);
          operations[w] ! kind, started[w];
          if
          :: HAS_ANY -> detour = started[w]
          :: else
          fi
        fi;
        if
        :: HAS_ANY -> since_grant[w] = since_grant[w] | BIT(started[w])
        :: else
        fi;
        open = open | BIT(started[w]);
        kind = 0
      } }
  od
}

init {
  byte w;
  atomic {
    for (w : 0 .. WORKERS - 1) { run Worker(w); run Home(w) }
    for (w : 1 .. NODES) { run Agent(w) }
    w = 0
  }
  timeout && (in_session[0] | in_session[1] | in_session[WORKERS - 1]) == 0 && started[0] == HOME_OPERATIONS &&
      started[1] == OPERATIONS && started[WORKERS - 1] == OPERATIONS ->
  d_step {
    assert(added == made);
    for (next : 1 .. NODES) {
      assert(sent[next] == 0 && unsent[next] == 0);
      assert(!has_copy[next] || base[next] == main)
    };
    next = 0
  }
}
