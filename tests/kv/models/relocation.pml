/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protocol by which the main copy of a store's key moves between nodes. run_models.py checks it with Spin.
 *
 * There is one key. Its main copy is at the key's home or at one of the nodes 1..NODES. Each node has an agent and a
 * worker. The agent may ask for the main copy, at most ASKS times, and may give it back at any time. The home's node
 * has worker 0. A worker starts OPERATIONS operations and waits for them in any order. At most WINDOW of its operations
 * are unanswered, that is, started and not waited for. A worker applies an operation to the copy of its own node, or
 * sends it to the home in its session. The home works on one operation of a worker at a time. While a node holds the
 * main copy, the home forwards operations to that node.
 *
 * Channels:
 *   to_home[n]     control session from node n to the home: ACQUIRE, RETURN(record); in order
 *   to_node[n]     control session from the home to node n: GRANT(record), RECALL, FORWARD(operation), REFUSED;
 *                  in order
 *   reply[w]       answer to FORWARD of an operation of worker w: DONE or BOUNCE; in no order relative to to_home
 *   operations[w]  session from worker w to the home: numbers of operations; in order
 * The home answers a worker by clearing a bit of in_session[w]. A worker that waits later stands for a slow answer.
 *
 * The key's value is a record: the number of the last applied operation of each worker.
 *
 * Checked properties:
 *   - there is at most one main copy: assertions where a record arrives
 *   - each operation is applied once, in the program order of its worker: assertion in apply()
 *   - each operation and each request for the main copy is answered: no invalid end state
 *   - at the end the main copy contains all operations: assertion in init
 *   - the control sessions need no more room than their channels have: assertions before the sends
 *
 * Macros of wrong rules; each one breaks a property:
 *   READ_COPY     A worker applies operations to its node's copy while older ones are in its session.
 *   OLDEST_ONLY   A worker looks only at its oldest unanswered operation. A newer one may be in its session.
 *   LATE_NUMBER   A worker reads the node's grant counter after it has sent the operation.
 *   HOME_DIRECT   Worker 0 applies operations to the home's copy while older ones are in its session.
 *   GRANT_EARLY   The home grants the main copy while operations wait that found it away.
 *   SILENT_DONE   When DONE finishes the last waiting operation, the home does not grant the next wish.
 *   SPLIT_GRANT   GRANT travels in another channel than RECALL and FORWARD.
 *
 * Macros of other rules that keep all properties:
 *   MAY_REFUSE     The home may answer ACQUIRE with REFUSED.
 *   FORGET_BOUNCE  The home forwards a bounced operation again at once. It may bounce without end if RETURN is delayed.
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
#define ASKS 2 /* of each node */
#endif

#if NODES > 3 || OPERATIONS > 3
#error "a record has two bits for each of four workers"
#endif

#define BIT(i) (1 << (i))
#define LAST(record, w) (((record) >> (2 * (w))) & 3)
#define WORKERS (NODES + 1)

mtype = { ACQUIRE, RETURN, GRANT, RECALL, FORWARD, REFUSED, DONE, BOUNCE };
mtype = { IDLE, FORWARDED, HELD };

chan to_home[WORKERS] = [2] of { mtype, byte };                 /* kind, record */
chan to_node[WORKERS] = [WORKERS + 3] of { mtype, byte, byte }; /* kind, worker, its operation or the record */
chan reply[WORKERS] = [1] of { mtype };
chan operations[WORKERS] = [WINDOW] of { byte };
#ifdef SPLIT_GRANT
chan grant_to[WORKERS] = [1] of { mtype, byte, byte };
#else
#define grant_to to_node
#endif

/* State of the home. */
byte holder = 0; /* node that holds the main copy or that the copy is on its way to or from; 0: the home has the copy */
bool recalling = false;
byte home_copy = 0;
chan wishes = [NODES] of { byte }; /* nodes that asked and must wait */
byte waiting = 0;                  /* number of workers whose progress is not IDLE */
mtype progress[WORKERS] = IDLE;
byte head[WORKERS]; /* operation that the home works on */
#define HERE (holder == 0)

/* State of the nodes. */
bool has_main[WORKERS];
byte copy[WORKERS];

/* State of the workers: bits of operations. */
byte in_session[WORKERS];  /* sent to the home and not answered */
byte since_grant[WORKERS]; /* unanswered, and the node's grant counter has not changed since their start */

hidden byte next, i, record; /* used within one step */

inline apply(record, w, i) {
  assert(LAST(record, w) == i - 1);
  record = record + BIT(2 * w)
}

inline answer(w) {
  in_session[w] = in_session[w] & ~BIT(head[w]);
  head[w] = 0
}

inline finish_waiting(w) {
  answer(w);
  progress[w] = IDLE;
  waiting--
}

inline send_to_node(receiver, kind, worker, value) {
  assert(nfull(to_node[receiver]));
  to_node[receiver] ! kind, worker, value
}

inline send_grant(n) {
  assert(nfull(grant_to[n]));
  grant_to[n] ! GRANT, 0, home_copy;
  holder = n;
  home_copy = 0
}

#ifdef GRANT_EARLY
#define MAY_GRANT HERE
#else
#define MAY_GRANT (HERE && waiting == 0)
#endif

inline grant_next() {
  if
  :: MAY_GRANT && len(wishes) > 0 ->
    wishes ? next;
    send_grant(next);
    if
    :: len(wishes) > 0 -> send_to_node(next, RECALL, 0, 0); recalling = true
    :: else
    fi
  :: else
  fi
}

/* Steps of the home for the messages of node w: of its agent and of its worker. */
proctype Home(byte w) {
end: do
  :: d_step { to_home[w] ? ACQUIRE, _ ->
      assert(holder != w);
      if
      :: MAY_GRANT -> assert(len(wishes) == 0); send_grant(w)
      :: else ->
        wishes ! w;
        if
        :: !HERE && !recalling -> send_to_node(holder, RECALL, 0, 0); recalling = true
        :: else
        fi
      fi }
#ifdef MAY_REFUSE
  :: d_step { to_home[w] ? ACQUIRE, _ -> assert(holder != w); send_to_node(w, REFUSED, 0, 0) }
#endif
  :: d_step { to_home[w] ? RETURN, record ->
      assert(holder == w);
      for (next : 1 .. NODES) { assert(!has_main[next]) }
      home_copy = record;
      holder = 0;
      recalling = false;
      grant_next() }
  :: d_step { progress[w] == IDLE && len(operations[w]) > 0 ->
      operations[w] ? head[w];
      if
      :: HERE -> apply(home_copy, w, head[w]); answer(w)
      :: !HERE && !recalling -> waiting++; progress[w] = FORWARDED; send_to_node(holder, FORWARD, w, head[w])
      :: !HERE && recalling -> waiting++; progress[w] = HELD
      fi }
  :: d_step { progress[w] == HELD && HERE -> apply(home_copy, w, head[w]); finish_waiting(w); grant_next() }
  :: d_step { reply[w] ? DONE ->
      assert(progress[w] == FORWARDED);
      finish_waiting(w)
#ifndef SILENT_DONE
      ; grant_next()
#endif
    }
  :: d_step { reply[w] ? BOUNCE ->
      assert(progress[w] == FORWARDED);
#ifdef FORGET_BOUNCE
      if
      :: !HERE -> send_to_node(holder, FORWARD, w, head[w])
      :: else -> progress[w] = HELD
      fi
#else
      progress[w] = HELD
#endif
    }
  od
}

inline give_back(n) {
  assert(nfull(to_home[n]));
  to_home[n] ! RETURN, copy[n];
  has_main[n] = false;
  copy[n] = 0;
  since_grant[n] = 0 /* the next grant would clear it; one value keeps the number of states small */
}

/* The labels are the states of the node: NONE, ASKED, and MAIN twice. */
proctype Agent(byte n) {
  byte asked = 0;
end_none: do
  :: atomic { asked < ASKS -> asked++; assert(nfull(to_home[n])); to_home[n] ! ACQUIRE, 0; goto asking }
  :: d_step { to_node[n] ? RECALL, _, _ } /* a RETURN is on its way */
  :: d_step { to_node[n] ? FORWARD, next, _ -> reply[next] ! BOUNCE }
  od;
asking: do
  :: atomic { grant_to[n] ? GRANT, _, copy[n] ->
      d_step {
        assert(holder == n);
        for (next : 1 .. NODES) { assert(!has_main[next]) }
        has_main[n] = true
      }
      if
      :: goto end_may_evict
      :: goto end_keeps
      fi }
  :: atomic { to_node[n] ? REFUSED, _, _ -> goto end_none }
  :: d_step { to_node[n] ? RECALL, _, _ } /* a RETURN is on its way */
  :: d_step { to_node[n] ? FORWARD, next, _ -> reply[next] ! BOUNCE }
  od;
end_may_evict: do
  :: atomic { give_back(n); goto end_none }
  :: atomic { to_node[n] ? RECALL, _, _ -> give_back(n); goto end_none }
  :: d_step { to_node[n] ? FORWARD, next, i -> apply(copy[n], next, i); reply[next] ! DONE }
  od;
end_keeps: do /* No eviction: Spin finds operations and wishes that only an eviction would help. */
  :: atomic { to_node[n] ? RECALL, _, _ -> give_back(n); goto end_none }
  :: d_step { to_node[n] ? FORWARD, next, i -> apply(copy[n], next, i); reply[next] ! DONE }
  od
}

/* The worker of a node that has the main copy applies an operation to it if no unanswered operation can be in its
 * session:
 *   - the node's grant counter has not changed since the oldest unanswered operation was started
 *   - the newest operation that was sent although the node had the main copy (detour) is answered */
#define OLDEST (open & -open)
#if defined(READ_COPY)
#define MAY_APPLY has_main[w]
#elif defined(OLDEST_ONLY)
#define MAY_APPLY (has_main[w] && (open == 0 || (since_grant[w] & OLDEST)))
#else
#define MAY_APPLY (has_main[w] && (open == 0 || ((since_grant[w] & OLDEST) && !(open & BIT(detour)))))
#endif
#ifdef HOME_DIRECT
#define MAY_APPLY_AT_HOME HERE
#else
#define MAY_APPLY_AT_HOME (HERE && in_session[0] == 0)
#endif

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

inline read_grant_counter() {
  if
  :: has_main[w] -> since_grant[w] = since_grant[w] | BIT(started)
  :: else
  fi
}

/* A worker waits for operations just before it starts another one. Earlier waits would make no difference to others. */
proctype Worker(byte w) {
  byte started = 0, open = 0, detour = 0; /* open: bits of unanswered operations */
  bool late = false;
end: do
  :: atomic { !late && started < (w == 0 -> HOME_OPERATIONS : OPERATIONS) &&
              (UNANSWERED < WINDOW || (open & ~in_session[w])) ->
      do
      :: ANSWERED(1) -> wait(1)
      :: ANSWERED(2) -> wait(2)
      :: ANSWERED(3) -> wait(3)
      :: UNANSWERED < WINDOW -> break
      od;
      d_step {
        started++;
        if
        :: w == 0 && MAY_APPLY_AT_HOME -> apply(home_copy, 0, started)
        :: w != 0 && MAY_APPLY -> apply(copy[w], w, started)
        :: else ->
          in_session[w] = in_session[w] | BIT(started);
          operations[w] ! started;
          if
          :: has_main[w] -> detour = started
          :: else
#ifdef LATE_NUMBER
            -> late = true
#endif
          fi
        fi;
        read_grant_counter();
        open = open | BIT(started)
      } }
  :: d_step { late -> late = false; read_grant_counter() }
  od
}

init {
  byte w;
  atomic {
    for (w : 0 .. NODES) { run Worker(w); run Home(w) }
    for (w : 1 .. NODES) { run Agent(w) }
    w = 0
  }
  timeout && (in_session[0] | in_session[1] | in_session[NODES - 1] | in_session[NODES]) == 0 ->
  d_step {
    record = home_copy;
    for (next : 1 .. NODES) { record = record + copy[next] }
    assert(LAST(record, 0) == HOME_OPERATIONS);
    for (next : 1 .. NODES) { assert(LAST(record, next) == OPERATIONS) }
    assert(HERE || has_main[holder])
  }
}
