import { randomToken, sha256, uuidv7 } from '../../crypto/secrets.js'
import { registrationKeys } from '../../engine/accounts.js'
import { keptKeys } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import type { PendingRegistration } from '../../model/user.js'
import type { SurfaceContext } from '../surface/surface-context.js'

// Registrations whose mailbox is not proved. Each is bound to the browser or app that made it by a
// random key; `shown` is what that keeps, null without. What has expired counts as not there.

/** What a person registers with; with the id of the user to be where their account at a provider names it already. */
export type Registered = Pick<
  PendingRegistration,
  | ('email' | 'emailAsTyped' | 'passwordHash' | 'name' | 'termsVersion')
  | ('method' | 'provider' | 'issuer' | 'subject')
> &
  Partial<Pick<PendingRegistration, 'id'>>

/** What registers with a password has no account at a provider. */
export const byPassword = {
  method: 'password',
  provider: null,
  issuer: null,
  subject: null,
} as const

export interface KeptRegistration {
  readonly registration: PendingRegistration
  /** What the browser or app keeps from now on in place of what it showed. Opaque; not stored. */
  readonly registrationKey: string
}

function isLive(ctx: SurfaceContext, { expiresAt }: PendingRegistration): boolean {
  return expiresAt > ctx.clock.now()
}

async function ofKey(ctx: SurfaceContext, key: string): Promise<PendingRegistration | null> {
  const [found] = await ctx.collections.pendingRegistrations.find(
    { keyHash: sha256(key) },
    { limit: 1 },
  )
  return found ?? null
}

/** The keys shown that something was registered with, and what that is. */
async function known(ctx: SurfaceContext, shown: string | null) {
  const all = await Promise.all(
    registrationKeys(shown).map(async (key) => ({ key, of: await ofKey(ctx, key) })),
  )
  return all.flatMap(({ key, of }) => (of === null ? [] : [{ key, of }]))
}

async function live(ctx: SurfaceContext, shown: string | null, email: string) {
  const all = await known(ctx, shown)
  return all.map(({ of }) => of).filter((of) => isLive(ctx, of) && isOfAddress(of, email))
}

/**
 * Stores one, and takes away an earlier one of the same address from the same browser or app. The
 * key is always a new one: what was shown may have been planted. The keys of other addresses go on if
 * something live was registered with them.
 */
export async function keepRegistration(
  ctx: SurfaceContext,
  registered: Registered,
  shown: string | null,
  lifeMs: number,
): Promise<KeptRegistration> {
  const now = ctx.clock.now()
  const earlier = await known(ctx, shown)
  const key = randomToken(ctx.random)
  const registration: PendingRegistration = {
    id: uuidv7(now, ctx.random),
    ...registered,
    keyHash: sha256(key),
    createdAt: now,
    expiresAt: now + lifeMs,
  }
  if (!(await put(ctx, registration))) throw new AuthError('service_unavailable')
  // Last: a crash before leaves the earlier one to the key that the browser still has.
  return { registration, registrationKey: await keysWith(ctx, registration, key, earlier) }
}

/** An earlier one of the same user to be gives way: whoever signed in at the provider has come again. */
async function put(ctx: SurfaceContext, registration: PendingRegistration): Promise<boolean> {
  const { pendingRegistrations } = ctx.collections
  if (await pendingRegistrations.insert(registration)) return true
  await pendingRegistrations.take(registration.id)
  return pendingRegistrations.insert(registration)
}

/** Takes the earlier ones of its address away, and adds the keys of the others to its own. */
async function keysWith(
  ctx: SurfaceContext,
  { id, email }: PendingRegistration,
  key: string,
  all: Awaited<ReturnType<typeof known>>,
): Promise<string> {
  const earlier = all.filter(({ of }) => of.id !== id)
  for (const { of } of earlier) {
    if (isOfAddress(of, email)) await ctx.collections.pendingRegistrations.take(of.id)
  }
  const others = earlier.filter(({ of }) => isLive(ctx, of) && !isOfAddress(of, email))
  return keptKeys(
    key,
    others.map((other) => other.key),
  )
}

/** What an app fetches by its key within this time; `shown` is what it kept before. Null when it is too late. */
export async function fetchRegistration(
  ctx: SurfaceContext,
  key: string,
  shown: string | null,
  withinMs: number,
): Promise<KeptRegistration | null> {
  const registration = await ofKey(ctx, key)
  if (registration === null || isStripped(registration)) return null
  const { createdAt, expiresAt } = registration
  if (Math.min(createdAt + withinMs, expiresAt) <= ctx.clock.now()) return null
  const registrationKey = await keysWith(ctx, registration, key, await known(ctx, shown))
  return { registration, registrationKey }
}

/** The one of this address that was made by the browser or app that shows this. */
export async function registrationsBoundTo(
  ctx: SurfaceContext,
  shown: string | null,
  email: string,
): Promise<PendingRegistration | null> {
  const own = await live(ctx, shown, email)
  return own.find((registration) => !isStripped(registration)) ?? null
}

/** Whether the browser or app that shows this registered the address, whatever became of an account that it had. */
export async function wasRegisteredBy(
  ctx: SurfaceContext,
  shown: string | null,
  email: string,
): Promise<boolean> {
  return (await live(ctx, shown, email)).length > 0
}

/** The newest of this address. */
export async function registrationsOfAddress(
  ctx: SurfaceContext,
  email: string,
): Promise<PendingRegistration | null> {
  const [newest] = await ctx.collections.pendingRegistrations.find(
    { email },
    { limit: 1, newestFirst: true },
  )
  return newest !== undefined && isLive(ctx, newest) ? newest : null
}

/** The one of this user to be. */
export async function registrationOfUser(
  ctx: SurfaceContext,
  userId: string,
): Promise<PendingRegistration | null> {
  const found = await ctx.collections.pendingRegistrations.get(userId)
  return found !== null && isLive(ctx, found) && !isStripped(found) ? found : null
}

export async function takeRegistration(
  ctx: SurfaceContext,
  registration: PendingRegistration,
): Promise<boolean> {
  if (registration.provider !== null) await forgetName(ctx, registration)
  return (await ctx.collections.pendingRegistrations.take(registration.id)) !== null
}

type AtProvider = Pick<PendingRegistration, 'provider' | 'issuer' | 'subject'>

function nameIdOf({ provider, issuer, subject }: AtProvider): string {
  return `name ${sha256(JSON.stringify([provider, issuer, subject]))}`
}

/**
 * What the person is called who has this account at a provider that tells it once. It waits for the account that is to
 * have it: the first sign-up may be refused, or its link be lost.
 */
export async function nameToldOnce(
  ctx: SurfaceContext,
  told: AtProvider & Pick<PendingRegistration, 'name'>,
  lifeMs: number,
): Promise<string> {
  const { name } = told
  const id = nameIdOf(told)
  if (name === '') {
    const kept = await ctx.collections.pendingRegistrations.get(id)
    return kept !== null && isLive(ctx, kept) ? kept.name : ''
  }
  const [createdAt, keyHash] = [ctx.clock.now(), '']
  const nothing = { ...stripped({ keyHash, email: '' }), keyHash }
  await put(ctx, { id, ...nothing, name, createdAt, expiresAt: createdAt + lifeMs })
  return name
}

/** Once the account has it. */
export async function forgetName(ctx: SurfaceContext, account: AtProvider): Promise<void> {
  await ctx.collections.pendingRegistrations.take(nameIdOf(account))
}

type Named = Pick<PendingRegistration, 'keyHash' | 'email'>

/**
 * What the deletion of an account leaves of the registrations of its address, until they expire. Their
 * makers may be strangers: were they gone, a login with the key of one would be answered otherwise than
 * the day before, and tell that the address had an account. No name, password or address is left.
 */
export function stripped(registration: Named) {
  const email = strippedAddress(registration, registration.email)
  const noProvider = { provider: null, issuer: null, subject: null }
  const nothing = { method: '', emailAsTyped: '', passwordHash: '', name: '', termsVersion: null }
  return { email, ...nothing, ...noProvider }
}

function isStripped({ method }: Pick<PendingRegistration, 'method'>): boolean {
  return method === ''
}

/** Whether it is, or was, of this address. */
function isOfAddress(registration: Named, email: string): boolean {
  return registration.email === email || registration.email === strippedAddress(registration, email)
}

function strippedAddress({ keyHash }: Named, email: string): string {
  return `stripped ${sha256(`${keyHash} ${email}`)}`
}
