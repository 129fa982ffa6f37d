import type { SurfaceContext } from '../../../src/domain/surface/surface-context.js'
import type { Passkey } from '../../../src/model/factors.js'
import { newUser } from '../../../src/model/user.js'
import { factorRig } from './factor-rig.js'

export const userId = '01940000-0000-7000-8000-00000000000a'

export const passkey = (id: string): Passkey => ({
  id,
  expiresAt: null,
  userId,
  slot: id.charCodeAt(0),
  publicKey: 'key',
  counter: 0,
  transports: [],
  name: id,
  backupEligible: false,
  backedUp: false,
  uvInitialized: true,
  removingBy: null,
  enrollmentId: null,
  deviceEpoch: 0,
  credentialEpoch: 0,
  createdAt: 0,
  lastUsedAt: null,
  lastChallenge: '',
})

/** One attempt among several; its calls of the store happen when the schedule says so. */
export type Attempt = (ctx: SurfaceContext) => Promise<unknown>

const address = 'ada@example.org'
export const user = newUser(0, { id: userId, email: address, emailAsTyped: address, name: 'Ada' })
const source = { ip: null, userAgent: null }
export const passkeyRemoved = { change: 'passkeyRemoved', source } as const
export const totpRemoved = { change: 'totpRemoved', source } as const

interface Way {
  /** Which of those that wait goes on, step by step; then always the first. */
  readonly choices: readonly number[]
  /** The attempt that ends, and after how many of its calls: its process died. */
  readonly crash: readonly [attempt: number, calls: number] | null
  /** Whether reads and writes of the user are among those that wait. */
  readonly withUsers?: boolean
}

interface Start {
  readonly factors: readonly ('a' | 'b' | 'app')[]
  readonly settings?: Parameters<typeof factorRig>[0]
}

export interface Played {
  readonly left: number
  readonly removed: number
  /** How many could have gone on at each step. */
  readonly widths: readonly number[]
  readonly ctx: SurfaceContext
}

const factorRequired = { mfaPolicyClient: 'required' } as const

export async function contextWith(
  factors: readonly ('a' | 'b' | 'app')[],
  settings: Parameters<typeof factorRig>[0] = factorRequired,
) {
  const { ctx } = factorRig(settings)
  const { passkeys, totpFactors, users } = ctx.collections
  await users.insert(user)
  for (const factor of factors) {
    if (factor !== 'app') await passkeys.insert(passkey(factor))
    else {
      await totpFactors.insert({
        id: userId,
        expiresAt: null,
        userId,
        sealedSecret: 'sealed',
        keyId: 'k1',
        confirmed: true,
        lastStep: 0,
        removingBy: null,
        enrollmentId: null,
        createdAt: 0,
        boundTo: '',
        credentialEpoch: 0,
        deviceEpoch: 0,
      })
    }
  }
  return ctx
}

export async function leftIn({ collections }: SurfaceContext): Promise<number> {
  const all = await collections.passkeys.find({ userId }, { limit: 10 })
  return all.length + ((await collections.totpFactors.get(userId)) === null ? 0 : 1)
}

/** The same collections, each call of which waits for its turn. */
function inTurns<T extends object>(collection: T, turn: () => Promise<void>): T {
  return new Proxy(collection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return async (...given: unknown[]) => {
        await turn()
        return member.apply(target, given)
      }
    },
  })
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

async function play(
  { factors, settings }: Start,
  attempts: readonly Attempt[],
  { choices, crash, withUsers = false }: Way,
): Promise<Played> {
  const ctx = await contextWith(factors, settings)
  const waiting = new Map<number, () => void>()
  const calls = attempts.map(() => 0)
  let removed = 0
  for (const [index, attempt] of attempts.entries()) {
    const turn = () =>
      new Promise<void>((resolve) => {
        const dies = crash?.[0] === index && calls[index] === crash[1]
        if (!dies) waiting.set(index, resolve)
      })
    const collections = {
      ...ctx.collections,
      passkeys: inTurns(ctx.collections.passkeys, turn),
      totpFactors: inTurns(ctx.collections.totpFactors, turn),
      ...(withUsers ? { users: inTurns(ctx.collections.users, turn) } : {}),
    }
    const done = (result: unknown): void => {
      if (result === true) removed += 1
    }
    void attempt({ ...ctx, collections }).then(done, () => {})
  }
  const widths: number[] = []
  for (;;) {
    await settled()
    const ready = [...waiting].sort(([one], [other]) => one - other)
    if (ready.length === 0) break
    const chosen = ready[choices[widths.length] ?? 0]
    if (chosen === undefined) throw new Error('there is no such choice')
    widths.push(ready.length)
    const [index, go] = chosen
    waiting.delete(index)
    calls[index] = (calls[index] ?? 0) + 1
    go()
  }
  return { left: await leftIn(ctx), removed, widths, ctx }
}

/** The next schedule in order; null after the last. */
function following(
  choices: readonly number[],
  widths: readonly number[],
): readonly number[] | null {
  const all = widths.map((_, step) => choices[step] ?? 0)
  for (let step = all.length - 1; step >= 0; step -= 1) {
    const next = (all[step] ?? 0) + 1
    if (next < (widths[step] ?? 0)) return [...all.slice(0, step), next]
  }
  return null
}

/** Every order in which the attempts' calls can meet the store. */
export async function playAll(
  start: Start,
  attempts: readonly Attempt[],
  how: Omit<Way, 'choices'>,
  check: (played: Played) => void | Promise<void>,
): Promise<number> {
  let choices: readonly number[] | null = []
  let count = 0
  while (choices !== null) {
    const played: Played = await play(start, attempts, { ...how, choices })
    await check(played)
    count += 1
    choices = following(choices, played.widths)
  }
  return count
}
