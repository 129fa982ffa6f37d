import { audit } from './audit.js'
import { codeGuesses } from './code-guesses.js'
import { configuration } from './configuration.js'
import { guesses } from './guesses.js'
import { inMeansIn } from './in-means-in.js'
import { inOrder } from './in-order.js'
import { isolation } from './isolation.js'
import type { Predicate } from './judged.js'
import { lifetimes } from './lifetimes.js'
import { lostReplies } from './lost-replies.js'
import { noSecrets } from './no-secrets.js'
import { oneChild } from './one-child.js'
import { oneGoesOn } from './one-goes-on.js'
import { oneSession } from './one-session.js'
import { oneWinner } from './one-winner.js'
import { outMeansOut } from './out-means-out.js'
import { replayEnds } from './replay-ends.js'
import { secondFactor } from './second-factor.js'
import { squatting } from './squatting.js'
import { stolenSecrets } from './stolen-secrets.js'
import { switchedOff } from './switched-off.js'
import { voidLinks } from './void-links.js'
import { wayIn } from './way-in.js'

/** What must hold of every history. */
export const predicates = {
  outMeansOut,
  inMeansIn,
  lifetimes,
  oneChild,
  replayEnds,
  oneWinner,
  voidLinks,
  isolation,
  noSecrets,
  secondFactor,
  squatting,
  guesses,
  audit,
  stolenSecrets,
  configuration,
  switchedOff,
  wayIn,
  oneGoesOn,
  inOrder,
  codeGuesses,
  oneSession,
  lostReplies,
} as const satisfies Readonly<Record<string, Predicate>>
export type PredicateName = keyof typeof predicates
