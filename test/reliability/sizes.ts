/** `full`: what `npm run test:long -- reliability` measures. Otherwise the same assertions in fewer rounds. */
export const isFull = process.env['RELIABILITY'] === 'full'

/** Rounds and durations of every figure, full and short. Nothing asserted depends on them. */
function size(full: number, short: number): number {
  return isFull ? full : short
}

export const sizes = {
  /** Figure R1: rounds of 64 racers, for each store and each grace. */
  singleWinnerRounds: size(500, 3),
  /** Figure R2: histories for each store and each grace, and how many run side by side. */
  histories: size(200, 8),
  historiesAtOnce: 4,
  /** Figure R4: histories of one environment's edits, for each store. */
  configHistories: size(100, 2),
  /** Figure R5: rounds of adders. */
  adderRounds: size(20, 1),
  /** Figure R29: changes watched from other processes. */
  watchedChanges: size(50, 1),
  /** Figure R3: families for each number of rotations from one to ten. */
  replaysPerLength: size(20, 1),
  /** Families whose last but one token is shown again after the window. */
  lateReplays: size(1000, 20),
  /** Rounds of two tabs, and of a lost reply. */
  twoTabRounds: size(1000, 30),
  /** Logouts watched from another process. */
  watchedLogouts: size(500, 20),
  /** Rotations of the signing key under load. */
  keyRotations: size(20, 2),
  /** Figure R7: rounds of 16 racers for each kind of what may be used once, on each store. */
  singleUseRounds: size(100, 2),
  /** Figure R11: of the faults that can befall a call, each call meets every n-th. */
  faultStride: size(1, 6),
  /** Figure R9: requests at once, against a limit of a hundred. */
  limitedRequests: size(1000, 240),
  /** Figure R10: how much faster than time the clocks of the processes go. */
  sweepClockRate: size(60, 120),
  /** … and how many cycles are watched before anything happens to them. */
  sweepCalmCycles: size(8, 2),
  /** Figure sweep: rows of the small table; the large one has ten times as many. */
  sweepRows: size(100_000, 10_000),
  /** Figure R12: how long the store is gone, under how many requests a second. */
  outageSeconds: size(60, 3),
  outagePerSecond: size(200, 60),
  outageWarmUpSeconds: size(15, 2),
  outageSettleSeconds: size(10, 2),
  /** Figure R14: how long connections are cut, and how long each of two full stops lasts. */
  chaosSeconds: size(60, 3),
  chaosStopSeconds: size(5, 1),
  chaosPerSecond: 50,
  /** More than it may take to be back to normal. */
  chaosQuietSeconds: size(5, 2.5),
  /** Figure R13: sessions signed out before their denylist is lost. */
  lostSessions: size(1000, 40),
  /** Figure imports: rows, and users of each kind of hash who sign in. */
  importedRows: size(100_000, 3000),
  importedSamples: size(200, 4),
  /** Figure R15: processes killed. */
  kills: size(300, 3),
  /** Figure R30: seconds of every flow, how much of them is the warm-up, and how much faster than time the clocks go. */
  soakSeconds: size(1800, 12),
  soakWarmUpSeconds: size(60, 2),
  soakClockRate: 12,
  /** … and then, how often they take turns with processes that have just started, for how many seconds each. */
  soakTurns: size(6, 1),
  soakTurnSeconds: size(30, 1),
  /** Figure R21: refusals of each kind in each of two rounds; timed in the full form alone. */
  timingSamples: 400,
  /** Figure R16: seconds by which one process is ahead of the other. */
  skews: isFull
    ? [-300, -120, -61, -60, -10, -1, 0, 1, 10, 60, 61, 120, 300]
    : [-300, -60, 0, 9, 300],
} as const
