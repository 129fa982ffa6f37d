/*
 * An account, and what starts in one request and ends in another: a mailed link to a new password, a login that waits for
 * its second factor, and two new factors, while the account changes, calls fail and processes die.
 * docs/maintainers/models.md says how to read and to search it.
 */

/* How far it goes is set by each search. Where faults are not LIMITED, any number of calls fails. */
byte changes = CHANGES, faults = FAULTS;
#define mayFail (faults > 0)
#define fails faults = faults - LIMITED

/* The user. Link and logins are of epoch 0. `last`: the intent that had an effect last (`lastIntentId`). */
byte credential, session, device, last;
#define byLink 1
#define byOther 2
#define byFactor(n) (3 + n)
bool proved, moved, disabled, off, expired;
/* Whose password it is: 0 of the beginning, 1 and 2 of the requests with the link, 3 another. */
byte password;
bool linkThere = true, ticketThere = true;
/* By request with the link: it wrote last; a write of it is still to come, for which it does not wait. */
bool own[2], waits[2];
chan late = [1] of { byte, bool };
/* Two new factors: 0 an app, 1 a passkey. One that `lacks` is begun by a login without a factor, else in a session. */
bool lacks[2], pending[2], factor[2], untold[2], settled[2];
byte seenDevice[2], seenCredential[2];

/* For claims alone: access tokens of the beginning; whose password the link set, and whether it proved the mailbox. */
bool access = true, provedByLink;
byte linkSet;
/* Wrong codes took the ticket; it gave a session. */
bool usedUp, given;
/* A factor stands; the other one did when it was begun; since then a reset began (1), and took the factors (2). */
bool stands[2], beside[2];
byte stale[2];

/* `judgeIntent` with the rows of `intentKinds`. */
#define isOpen (!disabled && !expired)
#define linkWritten (isOpen && last == byLink && credential <= 1)
#define linkGood (isOpen && !linkWritten && credential == 0 && !moved && !off)
#define ticketGood (isOpen && credential == 0 && session == 0 && device == 0 && !off)
#define lackingGood (isOpen && credential == 0 && session == 0 && !off)
#define asBegun (credential == seenCredential[n] && device == seenDevice[n])
#define isNear(epoch, seen) (epoch == seen || epoch == seen + 1)
#define factorWritten (last == byFactor(n) && isNear(credential, seenCredential[n]) && isNear(device, seenDevice[n]))
#define factorGood (isOpen && (factorWritten || (asBegun && !off)))

/* The one guarded write of the link. It proves the mailbox where nobody had when the link was opened (`proves`). */
#define linkGuard (credential == 0 && !disabled && (!proves || !proved))
inline linkWrite() {
  assert(linkSet == 0); /* a link has its effect once */
  assert(!moved); /* a link finds the address it was mailed to */
  credential++; session++; device++; password = n + 1; linkSet = n + 1; last = byLink;
  provedByLink = provedByLink || proves; proved = proved || proves
}

proctype store() {
  byte n;
  bool proves;
end: do
  :: atomic { late?n, proves ->
       if :: linkGuard -> linkWrite(); own[n] = waits[n] :: else fi;
       n = 0; proves = false }
  od
}

/* A link, shown with a password: its effect first, then the end of the sessions; the link is taken last. */
#define leaves proves = false; own[n] = false; waits[n] = false
#define dies atomic { mayFail -> fails; leaves }; goto end_idle
proctype link(byte n) {
  bool proves;
end_idle:
  if
  :: atomic { linkThere && linkGood -> proves = !proved }
  :: linkThere && linkWritten && password == n + 1 -> goto endSessions
  :: atomic { linkThere && !linkGood && !linkWritten ->
       assert(credential > 0 || moved || disabled || off || expired) /* sign-out everywhere voids no link */ };
     goto end_idle
  fi;
  if
  :: atomic { linkGuard -> linkWrite(); leaves }; goto endSessions
  :: atomic { !linkGuard && linkWritten && password == n + 1 -> leaves }; goto endSessions
  :: atomic { !linkGuard && !(linkWritten && password == n + 1) -> leaves;
       assert(!(linkWritten && linkSet == n + 1)) /* a request whose effect is written is not refused */ }; goto end_idle
  :: atomic { mayFail && linkGuard -> fails; linkWrite(); own[n] = true }
  :: atomic { mayFail -> fails }
  :: atomic { mayFail && nfull(late) -> fails; waits[n] = true; late!n, proves }
  :: dies
  fi;
  if :: atomic { own[n] && password == n + 1 -> leaves } :: atomic { else -> leaves }; goto end_idle fi;
endSessions:
  if :: access = false :: dies fi;
  if
  :: atomic { linkThere = false;
       assert(linkSet == n + 1); /* a link is answered with the effect it had */
       assert(!access) /* a link is answered when the sessions are ended */ }; goto end_idle
  :: atomic { mayFail -> fails; linkThere = false }; goto end_idle
  :: dies
  fi
}
#undef dies
#define dies atomic { mayFail -> fails }; goto end_idle

/* A login that waits is completed with a right code: the ticket is taken, then a session opened, under a fence. */
proctype login() {
end_idle:
  if
  :: atomic { ticketThere && ticketGood ->
       assert(session == 0 && device == 0 && !off) /* a login goes on while all that it began with holds */ }
  /* One wrong code too many. */
  :: atomic { ticketThere -> ticketThere = false; usedUp = true }; goto end_idle
  fi;
  if
  :: atomic { ticketThere -> ticketThere = false;
       assert(!usedUp) /* a ticket that wrong codes used up opens nothing */ }
  :: !ticketThere -> goto end_idle
  :: atomic { mayFail && ticketThere -> fails; ticketThere = false }; goto end_idle
  :: dies
  fi;
  if
  :: atomic { session == 0 && !disabled ->
       assert(!given); given = true; /* a ticket gives one session */
       assert(session == 0 && !disabled) /* a session is of the present epoch */ }; goto end_idle
  :: session > 0 || disabled || off -> goto end_idle
  :: dies
  fi
}

/*
 * A new factor: the epoch is claimed, the factor stored, and the epoch moved once more: what was begun in between was
 * begun before there was this factor. Where the request died, the sweep completes it, takes it back or tells of it.
 */
#define still (device == seenDevice[n] + 1 && credential == seenCredential[n] && !disabled)
#define isUnsettled (untold[n] && last == byFactor(n) && !settled[n])
#define anyFactor (factor[0] || factor[1])
#define goesOn (lackingGood && (!anyFactor || last == byFactor(n)))
#define claims device++; session = session + 1 - lacks[n]; last = byFactor(n)
inline stand() {
  assert(!(stands[1 - n] && seenDevice[1 - n] == seenDevice[n])); /* of two factors begun at once one stands */
  assert(!(stands[1 - n] && !beside[n])); /* no factor stands that was begun before the present first one */
  assert(stale[n] != 2); /* no factor outlives a reset of all factors */
  device++; settled[n] = true; stands[n] = factor[n]; untold[n] = false
}
proctype enrolment(byte n) {
end_idle:
  if
  :: atomic { !factor[n] && proved && !disabled && !off && device < LATEST && (!lacks[n] || (lackingGood && !anyFactor)) ->
       pending[n] = true; seenDevice[n] = device; seenCredential[n] = credential; settled[n] = false;
       stale[n] = 0; beside[n] = factor[1 - n]; last = (last == byFactor(n) -> byOther : last) }; goto end_idle
  /* A challenge is taken first. The secret of an app waits until it is a factor. */
  :: atomic { pending[n] && proved && !lacks[n] && factorGood -> pending[n] = (n == 0) }; goto claim
  :: pending[n] && proved && lacks[n] && lackingGood && factorGood
  :: atomic { isUnsettled && still -> stand() }; goto end_idle
  :: atomic { isUnsettled && !still -> factor[n] = false; untold[n] = false }; goto end_idle
  :: atomic { untold[n] && !isUnsettled -> untold[n] = false }; goto end_idle
  fi;
  if :: atomic { !anyFactor -> pending[n] = (n == 0) } :: anyFactor -> goto end_idle :: dies fi;
claim:
  if
  :: atomic { asBegun && !disabled -> claims }
  :: atomic { mayFail && asBegun && !disabled -> fails; claims }; goto end_idle
  :: n == 0 && still && last == byFactor(n)
  :: !(asBegun && !disabled) && !(n == 0 && still && last == byFactor(n)) -> goto end_idle
  :: dies
  fi;
  if
  :: atomic { n == 1 || pending[0] -> factor[n] = true; pending[n] = false; untold[n] = true }
  :: n == 0 && !pending[0] -> goto end_idle
  :: dies
  fi;
  if
  :: atomic { still -> stand() }
  :: atomic { mayFail && still -> fails; device++; settled[n] = true }; goto end_idle
  :: !still -> goto takeBack
  :: dies
  fi;
  if
  :: atomic { lacks[n] && goesOn ->
       assert(session == 0 && !off) /* a login goes on while all that it inherits holds */ }; goto end_idle
  :: !(lacks[n] && goesOn) -> goto end_idle
  :: dies
  fi;
takeBack:
  if :: atomic { factor[n] = false; untold[n] = false }; goto end_idle :: dies fi
}

/* What else happens to the account. An administrator does some of it to one that is disabled. */
#define change(when) (changes > 0 && (when)) -> changes--
proctype changer() {
  byte n;
end_idle:
  if
  /* Where the mailbox is not proved, it voids no link: whoever made the account could keep its owner out. */
  :: atomic { change(!disabled); credential = credential + proved; session++; device++; password = 3 }; goto end_idle
  :: atomic { change(!disabled && !moved); credential++; moved = true; proved = true; last = byOther }; goto end_idle
  :: atomic { change(!disabled && !proved); proved = true; last = byOther }; goto end_idle
  :: atomic { change(true); session++; device++ }; goto end_idle
  :: atomic { change(true); credential++; session++; device++; disabled = true }; goto end_idle
  :: atomic { change(disabled); disabled = false }; goto end_idle
  :: atomic { change(linkThere); linkThere = false }; goto end_idle
  :: atomic { change(true); off = !off }; goto end_idle
  :: atomic { change(!disabled); device++ }; goto end_idle
  :: atomic { change(factor[0]); device++; n = 0 }
  :: atomic { change(factor[1]); device++; n = 1 }
  :: atomic { change(FACTORS > 0); session++; device++ }; goto reset
  fi;
  if :: atomic { factor[n] = false; stands[n] = false; untold[n] = false; n = 0 }; goto end_idle :: dies fi;
reset:
  /* All that may be refreshed was ended. Whatever is begun after this is begun by somebody who signed in anew. */
  if :: atomic { stale[0] = 1; stale[1] = 1 } :: dies fi;
  if :: device++ :: dies fi;
  if :: atomic { stale[0] = stale[0] * 2; factor[0] = false; stands[0] = false; untold[0] = false; pending[0] = false;
       stale[1] = stale[1] * 2; factor[1] = false; stands[1] = false; untold[1] = false } :: dies fi;
  /* A login by a factor may have come in just before its removal. */
  if :: atomic { session++; device++ } :: dies fi;
  if :: device++; goto end_idle :: dies fi
}

proctype observer() {
end: do
  :: atomic { (stands[0] && !factor[0]) || (stands[1] && !factor[1]) ->
       assert(false) /* nothing but its removal takes a factor away */ }
  :: atomic { !proved && anyFactor -> assert(false) /* an unproved account has no factor */ }
  :: atomic { session == 0 && ((stands[0] && !lacks[0]) || (stands[1] && !lacks[1])) ->
       assert(false) /* a factor that was begun in a session ended the others */ }
  :: atomic { linkSet > 0 && device == 0 ->
       assert(false) /* nothing that was trusted beside the password of before outlives the link */ }
  :: atomic { provedByLink && !disabled && (session == 0 || (password == 0 && !off)) ->
       assert(false) /* nothing planted before the proof works */ }
  od
}

proctype clock() { expired = true }

init {
  if :: proved = true :: proved = false fi;
  if :: FACTORS > 0 -> lacks[0] = true :: skip fi; if :: FACTORS > 1 -> lacks[1] = true :: skip fi;
  atomic { run observer(); run store(); run changer();
    if :: LINKS > 0 -> run link(0) :: else fi; if :: LINKS > 1 -> run link(1) :: else fi;
    if :: LOGINS > 0 -> run login() :: else fi; if :: LOGINS > 1 -> run login() :: else fi;
    if :: FACTORS > 0 -> run enrolment(0) :: else fi; if :: FACTORS > 1 -> run enrolment(1) :: else fi;
    if :: CLOCK -> run clock() :: else fi }
}

ltl linkIsCompleted { <> (linkSet == 1 && !linkThere && !access) }
ltl factorIsCompleted { [] (last == byFactor(0) -> <> factor[0]) }
