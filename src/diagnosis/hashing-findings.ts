import type { AuthOptions } from '../options.js'
import type { Argon2Params } from '../ports/host.js'
import type { Finding } from '../ports/inspection.js'

/** What one password hash costs here. */
export interface HashCost {
  readonly params: Argon2Params
  /** How long one took. */
  readonly ms: number
  /** How many run at once. */
  readonly concurrency: number
  /** The threads of Node's pool. */
  readonly threads: number
  /** Bytes of memory that the process may have. */
  readonly memory: number
}

const check = 'hashing'
const slowestMs = 1000
/** The floor of the costs takes four times as long on the fastest processors. */
const fastestMs = 3

/** What of the password hashing does not go with this machine. */
export function hashingFindings(
  { hash = {} }: Pick<AuthOptions, 'hash'>,
  cost: HashCost,
): readonly Finding[] {
  return [...weakness(hash), ...timeFindings(cost), ...roomFindings(cost)]
}

function weakness({
  allowWeakHashesForTests,
}: NonNullable<AuthOptions['hash']>): readonly Finding[] {
  if (allowWeakHashesForTests !== true) return []
  const problem =
    'hash.allowWeakHashesForTests is set: passwords are hashed below the floor, and a refusal shows the kind of a hash by its time.'
  return [{ check, problem, remedy: 'Take it out. It is for test suites.' }]
}

function timeFindings({ ms, concurrency, params: { memoryCost, timeCost } }: HashCost) {
  const costs = `${memoryCost} KiB and ${timeCost} passes`
  if (ms > slowestMs) {
    const perSecond = ((concurrency * 1000) / ms).toFixed(1)
    const problem = `A password hash of ${costs} takes ${Math.round(ms)} ms here: this process checks ${perSecond} passwords a second.`
    const remedy = 'Lower hash.params, towards 19,456 KiB and two passes, or give it faster cores.'
    return [{ check, problem, remedy } as const]
  }
  // Test suites say that they hash cheaply, and are told of that.
  if (ms >= fastestMs || memoryCost < 12_288) return []
  const problem = `A password hash of ${costs} took ${ms.toFixed(1)} ms, which no processor can do: hash.implementation does not pay the costs.`
  return [{ check, problem, remedy: 'Let it hash by argon2id at the costs it is given.' } as const]
}

function roomFindings({ params, concurrency, threads, memory }: HashCost): readonly Finding[] {
  const needed = params.memoryCost * 1024 * concurrency
  const room: Finding[] = []
  if (needed > memory / 2) {
    const problem = `${concurrency} hashes at once take ${mebibytes(needed)} MiB of the ${mebibytes(memory)} MiB that this process may have.`
    room.push({
      check,
      problem,
      remedy: 'Lower hash.concurrency, or give the process more memory.',
    })
  }
  if (concurrency >= threads) {
    const problem = `hash.concurrency is ${concurrency}, and Node's thread pool has ${threads} threads: signatures and files wait behind passwords.`
    const remedy = `Set UV_THREADPOOL_SIZE to ${concurrency + 1} or more, or lower hash.concurrency.`
    room.push({ check, problem, remedy })
  }
  return room
}

function mebibytes(bytes: number): string {
  return Math.round(bytes / 1024 / 1024).toLocaleString('en')
}
