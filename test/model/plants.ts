import type { ModelName } from './searches.js'

/** A mistake in a model, which a search has to find. */
export interface Plant {
  readonly model: ModelName
  readonly name: string
  /** The search that finds it. */
  readonly search: string
  /** The claim that it breaks, as the comment beside the assertion says it; that of the search where it has a formula. */
  readonly breaks: string
  /** What replaces a piece of the model that is there once. */
  readonly edits: readonly (readonly [find: string, replace: string])[]
}

const lateRefresh = 'no grant begun after an ending'
const oneGoesOn = 'after a password change one holder of a token goes on'
const retired = 'what was handed out and never shown is retired'
const inTime = 'no grant beyond the cap or the idle deadline'

const refreshPlants: readonly Omit<Plant, 'model'>[] = [
  {
    name: 'the grace lasts to its very end, and longer than no time at all',
    search: 'two holders',
    breaks: 'a re-issue is within the grace',
    edits: [['held[n] > barred && !graceOver && !strict)', 'held[n] > barred)']],
  },
  {
    name: 'a token two generations behind is re-issued',
    search: 'two holders',
    breaks: retired,
    edits: [['mayReissue ((behind == 1 ', 'mayReissue ((behind >= 1 ']],
  },
  {
    name: 'a re-issue comes before the cap',
    search: 'two holders',
    breaks: inTime,
    edits: [['(capped -> maxAge', '(capped && behind == 0 -> maxAge']],
  },
  {
    name: 'the write that rotates asks for no deadline',
    search: 'two holders',
    breaks: inTime,
    edits: [['&& !revoked && !idled && !capped && epochHolds', '&& !revoked && epochHolds']],
  },
  {
    name: 'a write whose answer was lost is taken for one that missed',
    search: 'two holders',
    breaks: 'a request whose own write took effect finds no replay',
    edits: [
      ['verdict == replay && !lost', 'verdict == replay'],
      ['(verdict == replay || verdict == current ||', '(verdict == current ||'],
    ],
  },
  {
    name: 'a session is put on the denylist after the reply',
    search: 'an ending',
    breaks: 'no access after an ending was answered',
    edits: [['!tried -> denied = true; tried = LIVELY }', '!tried -> tried = LIVELY }']],
  },
  {
    name: 'an ending revokes the row before the denylist',
    search: 'an ending',
    breaks: 'a session whose row is revoked is on the denylist',
    edits: [
      [
        '!tried -> denied = true; tried = LIVELY }; goto revoke',
        '!tried -> revoked = true; tried = LIVELY }',
      ],
    ],
  },
  {
    name: 'a request does not ask for the epoch of the user',
    search: 'an ending',
    breaks: lateRefresh,
    edits: [['epochHolds = (epoch == 0 || kept);', 'epochHolds = true;']],
  },
  {
    name: 'a password change leaves the row as it is',
    search: 'a password change',
    breaks: oneGoesOn,
    edits: [['barred = seen; seen = 0', 'seen = 0']],
  },
  {
    name: 'a password change bars the generation that it read, whatever came since',
    search: 'a password change',
    breaks: oneGoesOn,
    edits: [['seen == generation && !revoked ->', '!revoked ->']],
  },
  {
    name: 'a password change writes the user before the row',
    search: 'a password change',
    breaks: 'a password that was changed has barred re-issues',
    edits: [['seen = generation }\n  fi', 'seen = generation; epoch++; kept = true }\n  fi']],
  },
  {
    name: 'a request that meets an ending cut short refuses, and puts nothing right',
    search: 'an ending cut short is completed at the next touch',
    breaks: 'an ending cut short is completed at the next touch',
    edits: [
      [
        '(denied || disabled) && !revoked -> goto deny',
        '(denied || disabled) && !revoked -> goto end_idle',
      ],
    ],
  },
  {
    name: 'a replay is refused, and the session goes on',
    search: 'a token of two generations ago ends the session',
    breaks: 'a token of two generations ago ends the session',
    edits: [
      [
        'meets no replay */\n       leave() }; goto deny',
        'meets no replay */\n       leave() }; goto end_idle',
      ],
    ],
  },
  {
    name: 'a lost answer is never given again',
    search: 'a holder that lost an answer gets the next one, inside the grace',
    breaks: 'a holder that lost an answer gets the next one, inside the grace',
    edits: [
      ['mayReissue ((behind == 1 || held[n] == shown) ', 'mayReissue ((behind == 0) '],
      ['mayRotateLate (held[n] == shown ', 'mayRotateLate (held[n] == 0 '],
    ],
  },
  {
    name: 'any device gets a late rotation',
    search: 'two holders',
    breaks: 'after the grace, its own device alone is answered',
    edits: [['!strict && byDevice && id[n])', '!strict && byDevice)']],
  },
  {
    name: 'a token that was handed out and never shown does not retire',
    search: 'two holders',
    breaks: retired,
    edits: [
      ['mayRotateLate (held[n] == shown ', 'mayRotateLate (held[n] >= shown '],
      ['lateGuard (held[n] == shown ', 'lateGuard (held[n] >= shown '],
    ],
  },
  {
    name: 'a re-issue raises what was shown',
    search: 'two holders',
    breaks: retired,
    edits: [
      [
        'beyond the cap or the idle deadline */\n       gets = generation; forget() }\n',
        'beyond the cap or the idle deadline */\n       shown = held[n]; gets = generation; forget() }\n',
      ],
    ],
  },
  {
    name: 'a late rotation raises what was shown',
    search: 'an owner alone, whose replies are lost',
    breaks: 'an owner alone, with the id, meets no replay',
    edits: [['presented == generation -> shown = generation;', 'true -> shown = generation;']],
  },
]

const linkOnce = 'a link whose answers are lost is completed by the same request'
const noneOutlives = 'no factor outlives a reset of all factors'

const intentPlants: readonly Omit<Plant, 'model'>[] = [
  {
    name: 'sign-out everywhere voids a link to a new password',
    search: 'a link, shown twice',
    breaks: 'sign-out everywhere voids no link',
    edits: [
      ['credential == 0 && !moved && !off)', 'credential == 0 && session == 0 && !moved && !off)'],
    ],
  },
  {
    name: 'a link does not name the address that it was mailed to',
    search: 'a link, shown twice',
    breaks: 'a link finds the address it was mailed to',
    edits: [
      ['credential == 0 && !moved && !off)', '!off)'],
      ['linkGuard (credential == 0 && ', 'linkGuard ('],
    ],
  },
  {
    name: 'a link writes without asking for the credentials it was mailed for',
    search: 'a link, shown twice',
    breaks: 'a link has its effect once',
    edits: [['linkGuard (credential == 0 && ', 'linkGuard (']],
  },
  {
    name: 'a link is taken before its effect',
    search: linkOnce,
    breaks: linkOnce,
    edits: [['-> proves = !proved }', '-> proves = !proved; linkThere = false }']],
  },
  {
    name: 'what wrote its effect and was cut off is taken for void',
    search: linkOnce,
    breaks: linkOnce,
    edits: [['linkWritten (isOpen && ', 'linkWritten (false && ']],
  },
  {
    name: 'a write that missed is refused, though the same link wrote it',
    search: 'a link, shown twice',
    breaks: 'a request whose effect is written is not refused',
    edits: [
      [
        ':: atomic { !linkGuard && linkWritten && password == n + 1 -> leaves }; goto endSessions\n',
        '',
      ],
      [
        ':: atomic { !linkGuard && !(linkWritten && password == n + 1) ->',
        ':: atomic { !linkGuard ->',
      ],
    ],
  },
  {
    name: 'the proof of the mailbox leaves the epoch of sessions',
    search: 'a link, shown twice',
    breaks: 'nothing planted before the proof works',
    edits: [
      [
        'credential++; session++; device++; password = n + 1',
        'credential++; device++; password = n + 1',
      ],
    ],
  },
  {
    name: 'a new password leaves the epoch of what was trusted beside the old one',
    search: 'a link, shown twice',
    breaks: 'nothing that was trusted beside the password of before outlives the link',
    edits: [
      [
        'credential++; session++; device++; password = n + 1',
        'credential++; session++; password = n + 1',
      ],
    ],
  },
  {
    name: 'a new password takes the factors with it',
    search: 'a link and a factor',
    breaks: 'nothing but its removal takes a factor away',
    edits: [[':: access = false ::', ':: atomic { access = false; factor[0] = false } ::']],
  },
  {
    name: 'a login that waits does not hang on the factors',
    search: 'a login, completed twice',
    breaks: 'a login goes on while all that it began with holds',
    edits: [['session == 0 && device == 0 && !off)\n#define', 'session == 0 && !off)\n#define']],
  },
  {
    name: 'a login that completes asks nothing of the account that it opens',
    search: 'a login, completed twice',
    breaks: 'a session is of the present epoch',
    edits: [['session == 0 && !disabled ->', 'true ->']],
  },
  {
    name: 'one wrong code too many is refused, and leaves the ticket',
    search: 'a login, completed twice',
    breaks: 'a ticket that wrong codes used up opens nothing',
    edits: [['ticketThere = false; usedUp = true', 'usedUp = true']],
  },
  {
    name: 'a ticket is looked at and not taken',
    search: 'a login, completed twice',
    breaks: 'a ticket gives one session',
    edits: [['ticketThere -> ticketThere = false;\n', 'ticketThere ->\n']],
  },
  {
    name: 'a factor that was stored asks for the epoch and leaves it',
    search: 'two factors at once',
    breaks: 'no factor stands that was begun before the present first one',
    edits: [['  device++; settled[n] = true; stands', '  settled[n] = true; stands']],
  },
  {
    name: 'a factor is stored and asks for no epoch before it',
    search: 'two factors at once',
    breaks: 'of two factors begun at once one stands',
    edits: [
      [':: atomic { asBegun && !disabled -> claims }', ':: atomic { true -> claims }'],
      ['  :: atomic { still -> stand() }\n', '  :: atomic { true -> stand() }\n'],
    ],
  },
  {
    name: 'a factor is added and the other sessions go on',
    search: 'two factors at once',
    breaks: 'a factor that was begun in a session ended the others',
    edits: [['device++; session = session + 1 - lacks[n]; last', 'device++; last']],
  },
  {
    name: 'a factor is stored and the epoch not asked again',
    search: 'two factors at once',
    breaks: noneOutlives,
    edits: [['  :: atomic { still -> stand() }\n', '  :: atomic { true -> stand() }\n']],
  },
  {
    name: 'the sweep completes an enrolment and asks for no epoch',
    search: 'two factors at once',
    breaks: noneOutlives,
    edits: [['isUnsettled && still -> stand()', 'isUnsettled -> stand()']],
  },
  {
    name: 'a reset of all factors takes them before it raises their epoch',
    search: 'two factors at once',
    breaks: noneOutlives,
    edits: [['if :: device++ :: dies fi;\n  if :: atomic { stale[0]', 'if :: atomic { stale[0]']],
  },
  {
    name: 'a factor whose answer was lost is never completed',
    search: 'a factor goes on where it was cut off',
    breaks: 'a factor goes on where it was cut off',
    edits: [['isOpen && (factorWritten || (asBegun && !off))', 'isOpen && asBegun && !off']],
  },
]

/** Each of them has to be refuted. */
export const plants: readonly Plant[] = [
  ...refreshPlants.map((plant) => ({ ...plant, model: 'refresh' as const })),
  ...intentPlants.map((plant) => ({ ...plant, model: 'intents' as const })),
]
