/*
 * The refresh tokens of one session, in two hands, while the session is ended, the password is changed, time passes,
 * calls fail and processes die. docs/maintainers/models.md says how to read and to search it.
 */

/* How far it goes is set by each search. Where faults are not LIMITED, any number of calls fails. */
byte faults = FAULTS;
#define mayFail (faults > 0)
#define fails faults = faults - LIMITED

/* The row of the family. No token up to the generation `barred` is re-issued (`noReissueUpTo`). */
byte generation = 1, barred;
bool revoked;
/* Since the last rotation the grace has passed; the two deadlines have; the grace is set to no length. */
bool graceOver, idled, capped, strict;
/* The highest generation noted as presented; whether the newest rotation's request carried the recognition id. */
byte shown;
bool byDevice;
/* The user. The family is of epoch 0; `kept` spares it from the newest, which its own change of password made. */
byte epoch;
bool kept, disabled;
bool denied, closed;

/* By holder: whether it has the recognition id, the newest token, whether its request wrote the row last, whether a write of that is still to come. */
bool id[2];
byte held[2];
bool own[2], waits[2];
chan late = [1] of { byte, byte, byte, bool };

/* For claims alone: `shown` as only rotations and notes may write it. An ending was begun, an ending was answered, a change of password was answered. */
byte noted;
bool begun, ended, answered;
/* It held its token before that change was asked for; one of these has refreshed since the answer. */
bool before[2], survived;

mtype = { isRevoked, alreadyRotated, replay, expired, outdated, maxAge, reissue, lateRotation, current };

/* `judgeRefresh`, in its order. */
#define behind (generation - held[n])
#define mayReissue ((behind == 1 || held[n] == shown) && held[n] > barred && !graceOver && !strict)
#define mayRotateLate (held[n] == shown && held[n] > barred && !strict && byDevice && id[n])
#define verdict \
  (revoked -> isRevoked : (own[n] -> alreadyRotated : (behind > 0 && !mayReissue && !mayRotateLate -> replay : \
  (idled -> expired : (!epochHolds -> outdated : (capped -> maxAge : \
  (behind == 0 -> current : (mayReissue -> reissue : lateRotation))))))))
/* `rotationGuard`, which the write asks in its own moment. `seen` is the generation of the row that it was judged by. */
#define live (seen == generation && !revoked && !idled && !capped && epochHolds)
#define guard (held[n] == seen && live)
#define lateGuard (held[n] == shown && held[n] > barred && byDevice && live)

/* A late rotation leaves `shown`: the token that it answers is still the newest that was presented. */
inline rotate(who, presented) {
  if :: presented == generation -> shown = generation; noted = generation :: else fi;
  byDevice = id[who]; generation++; graceOver = false; own[who] = true; own[1 - who] = false
}

/* What the rest of a request does not ask for: it would tell states apart. */
inline forget() {
  epochHolds = false; applied = false; lost = false; seen = 0; own[n] = false; waits[n] = false
}

inline leave() {
  forget(); tooLate = false; early = false; gets = 0
}

/* A write for which no request waits asks for the deadlines of its request: one that passed since does not stop it. */
proctype store() {
  byte n, seen, presented;
  bool epochHolds;
end: do
  :: atomic { late?n, seen, presented, epochHolds ->
       if
       :: seen == generation && !revoked && epochHolds && (presented == seen ||
            (presented == shown && presented > barred && byDevice)) -> rotate(n, presented); own[n] = waits[n]
       :: else
       fi;
       n = 0; seen = 0; presented = 0; epochHolds = false }
  od
}

/*
 * One request at a time. A second tab, a thief and an app restored from a backup are the same thing here: they have a
 * copy of the first one's token, and the recognition id or not.
 */
#define dies atomic { mayFail -> fails; leave() }; goto end_idle
proctype holder(byte n) {
  byte seen, gets;
  bool epochHolds, tooLate, early, applied, lost;
end_idle:
  if
  :: atomic { n == 1 && held[0] > held[1] && !denied -> held[1] = held[0]; before[1] = false }; goto end_idle
  :: atomic { !LIVELY && held[n] > 0 && !denied && !disabled ->
       assert(!ended) /* no access after an ending was answered */ }; goto end_idle
  :: atomic { held[n] > 0 && held[n] < NEWEST && generation < MOST && !denied && !disabled ->
       seen = held[n]; epochHolds = (epoch == 0 || kept); tooLate = ended || revoked || disabled || begun; early = !answered }
  :: held[n] > 0 && (denied || disabled) && !revoked -> goto deny
  :: held[n] > 0 && (denied || disabled) && revoked -> goto close
  fi;
write:
  if
  :: atomic { guard || lateGuard ->
       assert(!capped && !idled); /* no grant beyond the cap or the idle deadline */
       assert(held[n] == generation || (id[n] && !strict)); /* after the grace, its own device alone is answered */
       assert(held[n] == generation || held[n] == noted); /* what was handed out and never shown is retired */
       rotate(n, held[n]); gets = generation; forget() }; goto granted
  :: !(guard || lateGuard)
  :: atomic { (guard || lateGuard) && mayFail -> fails; rotate(n, held[n]); applied = true; lost = true }
  :: atomic { mayFail -> fails; lost = true }
  :: atomic { mayFail && nfull(late) -> fails; waits[n] = true; lost = true; late!n, seen, held[n], epochHolds }
  /* `GET session`: judged by the row; the current generation is noted afterwards, or not. */
  :: atomic { !LIVELY && seen == held[n] && (verdict == current || verdict == reissue || verdict == lateRotation) ->
       assert(!capped && !idled); /* no grant beyond the cap or the idle deadline */
       assert(!tooLate); /* no grant begun after an ending */
       applied = (verdict == current); epochHolds = false };
     if
     :: atomic { applied && byDevice && held[n] == generation && !revoked -> shown = held[n]; noted = held[n]; leave() }
     :: atomic { leave() }
     fi; goto end_idle
  :: dies
  fi;
  if
  :: atomic { verdict == alreadyRotated -> gets = generation; forget() }
  :: atomic { verdict == reissue ->
       assert(!graceOver && !strict); /* a re-issue is within the grace */
       assert(behind == 1 || held[n] == noted); /* what was handed out and never shown is retired */
       assert(!capped && !idled); /* no grant beyond the cap or the idle deadline */
       gets = generation; forget() }
  :: atomic { verdict == lateRotation && !lost -> seen = generation }; goto write
  :: atomic { verdict == replay && !lost ->
       assert(!applied); /* a request whose own write took effect finds no replay */
       assert(HOLDERS > 1 || !id[0] || strict || barred > 0); /* an owner alone, with the id, meets no replay */
       leave() }; goto deny
  /* Misuse or a lost answer, written or not: it cannot tell. */
  :: atomic { (verdict == replay || verdict == current || verdict == lateRotation) && lost -> leave() }; goto end_idle
  :: atomic { verdict == isRevoked -> leave() }; goto close
  :: atomic { verdict == expired -> leave() }; goto end_idle
  :: atomic { verdict == outdated || verdict == maxAge -> leave() }; goto deny
  :: dies
  fi;
granted:
  if
  :: atomic { true ->
       assert(!tooLate); /* no grant begun after an ending */
       held[n] = gets;
       if
       :: answered && before[n] && !early ->
            assert(!survived); /* after a password change one holder of a token goes on */
            survived = true; before[n] = false
       :: else
       fi;
       leave() }; goto end_idle
  :: dies
  fi;
deny:
  if :: denied = true :: dies fi;
  if :: revoked = true :: dies fi;
close:
  if :: atomic { closed = true; ended = true }; goto end_idle :: dies fi
}
#undef dies
#define dies atomic { mayFail -> fails }; goto end_idle

/* Logout ends this session alone; the others write the user first. If one died, it is asked for again. */
proctype ender() {
  bool tried;
end_idle:
  if
  :: atomic { !ended && !tried -> denied = true; tried = LIVELY }; goto revoke
  :: atomic { !ended && !tried && epoch < EPOCHS -> epoch++; kept = false; begun = true; tried = LIVELY }
  :: atomic { !ended && !tried && epoch < EPOCHS -> epoch++; kept = false; begun = true; disabled = true; tried = LIVELY }
  fi;
  if :: denied = true :: dies fi;
revoke:
  if :: revoked = true :: dies fi;
  if :: atomic { closed = true; ended = true }; goto end_idle :: dies fi
}
#undef dies

/* Every family of before stays of an older epoch. */
proctype enabler() {
end: do
  :: atomic { disabled -> disabled = false }
  od
}

/* The row first, under its generation, and the user afterwards: one cut short has barred more than it had to. */
#define gives seen = 0; before[0] = false; before[1] = false
#define dies atomic { mayFail -> fails; gives }; goto end_idle
proctype changer() {
  byte seen;
end_idle:
  if
  :: atomic { !answered && !denied && epoch < EPOCHS ->
       before[0] = held[0] > 0; before[1] = held[1] > 0; seen = generation }
  fi;
bar:
  if
  :: atomic { seen == generation && !revoked -> barred = seen; seen = 0 }
  :: atomic { seen != generation -> seen = generation }; goto bar
  :: atomic { revoked -> gives }; goto end_idle
  :: dies
  fi;
  /* The write asks for the epochs that were read: an ending of all sessions has ended this one too. */
  if
  :: atomic { (epoch == 0 || kept) && epoch < EPOCHS -> epoch++; kept = true }
  :: atomic { !(epoch == 0 || kept) -> gives }; goto end_idle
  :: dies
  fi;
  if :: answered = true :: dies fi
}

/* Once the session is on the denylist, time tells no more states apart. */
proctype clock() {
end: do
  :: atomic { !graceOver && !denied -> graceOver = true }
  :: atomic { !capped && !denied -> capped = true }
  :: atomic { !LIVELY && !idled && !denied -> idled = true }
  od
}

proctype observer() {
end: do
  :: atomic { ended && !(denied && revoked && closed) ->
       assert(false) /* an ending is answered when all of its steps are done */ }
  :: atomic { revoked && !denied -> assert(false) /* a session whose row is revoked is on the denylist */ }
  :: atomic { kept && barred == 0 -> assert(false) /* a password that was changed has barred re-issues */ }
  od
}

init {
  if :: strict = true :: skip fi;
  if :: id[0] = true :: !ALIKE -> skip fi;
  if :: HOLDERS > 1 -> id[1] = true :: !ALIKE || HOLDERS == 1 -> skip fi;
  held[0] = 1;
  atomic { run observer(); run store(); run holder(0);
    if :: HOLDERS > 1 -> run holder(1) :: else fi;
    if :: ENDER -> run ender(); run enabler() :: else fi;
    if :: CHANGER -> run changer() :: else fi;
    if :: CLOCK -> run clock() :: else fi }
}

ltl endingIsCompleted { [] ((denied -> <> closed) && (epoch > 0 -> <> (denied || held[0] >= NEWEST))) }
ltl replayEnds { [] (held[1] > 0 && held[1] + 1 < generation -> <> (denied || held[1] + 1 >= generation)) }
ltl lostAnswerIsGiven { [] (generation > held[0] -> <> (generation == held[0] || strict || capped || (graceOver && !id[0]))) }
