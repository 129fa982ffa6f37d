import { workOff } from '../../concurrency/promises.js'
import { isUuid } from '../../crypto/secrets.js'
import { isUnfinishedImport, sparesNone } from '../../engine/accounts.js'
import { AuthError, DeletionRefusedError, describeError } from '../../errors/index.js'
import { type Collections, removedBy } from '../../model/collections.js'
import {
  type AccountDeletion,
  onlyByRequest,
  type PendingRegistration,
  type ServiceCredential,
  type User,
} from '../../model/user.js'
import type { Collection, Doc } from '../../ports/store.js'
import { newestFirst } from '../../stores/pages.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act } from '../context/actor.js'
import { takeRegistrationLinks } from '../intents/login-intents.js'
import { stripped } from '../intents/pending-registrations.js'
import { clearGuesses } from '../passwords/guess-budgets.js'
import { endAllSessions } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { emitUserFailed } from './user-export.js'

// Deletes accounts with all that is kept of them. Its order: the deletion is noted; the account is
// disabled and its epochs raised, so that no login succeeds any more; sessions are ended, the denylist
// first; everything of the user is removed; the user record goes last, and with it the address is
// free. If an attempt dies after it disabled the account, no caller can use the account, and the next attempt or the
// process that sweeps completes the deletion. If it dies before, the process that sweeps completes it only where the note
// allows that (see `onlyByRequest`).

type RefusalOf = (user: User) => Promise<AuthError | null>

export type Finisher = 'this' | 'other'

/** How long an attempt has the deletion to itself. */
const attemptMs = 60_000
/** Longer than any request under way can take. */
const lookAgainMs = 10 * 60_000
const tries = 10

/**
 * Notes what is about to begin, and takes over the note of an earlier attempt. An owner, who may be refused, does not
 * take over the note of an administrator. The note of a deletion that was finished is written again where the account
 * is there again, as from a backup.
 */
async function note(
  ctx: SurfaceContext,
  { id: userId }: User,
  { actorId }: Act,
  epoch: number,
): Promise<void> {
  await retryOnConflict(tries, async () => {
    const begunAt = ctx.clock.now()
    const expiresAt = begunAt + attemptMs
    const fresh = {
      id: userId,
      actorId,
      begunAt,
      credentialEpoch: epoch,
      deletedAt: null,
      expiresAt,
    }
    if (await ctx.collections.accountDeletions.insert(fresh)) return fresh
    const found = await ctx.collections.accountDeletions.get(userId)
    if (found === null) return conflict
    // Another attempt has finished it just now.
    if (found.deletedAt !== null && (await ctx.collections.users.get(userId)) === null) return found
    const guard = { expiresAt: found.expiresAt }
    return (
      (await ctx.collections.accountDeletions.update(userId, guard, noteOver(found, fresh))) ??
      conflict
    )
  })
}

/** A key of the host would refuse the last steps, after all the others: then nothing is begun. */
async function refuseHeld(ctx: SurfaceContext, userId: string): Promise<void> {
  const keys = await ctx.heldBy(userId)
  if (keys.length === 0) return
  const cause = new DeletionRefusedError(keys)
  ctx.logger.error('foreign keys of the host refuse a deletion', describeError(cause))
  throw new AuthError('service_unavailable', { cause })
}

/**
 * Once it resolves with the user, no login succeeds and no call changes the account. Null when it is gone. `judge` is
 * asked before each try; with what it gives, unless that is null, it resolves, and does nothing.
 */
function disableForDeletion<R extends string>(
  ctx: SurfaceContext,
  userId: string,
  judge: (user: User) => Promise<R | null>,
): Promise<User | null | R> {
  return retryOnConflict(tries, async () => {
    const user = await ctx.collections.users.get(userId)
    if (user === null) return null
    if (user.deletingAt === null) await refuseHeld(ctx, userId)
    const refusal = await judge(user)
    if (refusal !== null) return refusal
    if (user.deletingAt !== null) return user
    const { sessionEpoch, credentialEpoch, deviceEpoch, updatedAt } = user
    const now = ctx.clock.now()
    const disabled = await ctx.collections.users.update(
      userId,
      { sessionEpoch, credentialEpoch, deviceEpoch, updatedAt },
      {
        enabled: false,
        deletingAt: now,
        updatedAt: now,
        sessionEpoch: sessionEpoch + 1,
        credentialEpoch: credentialEpoch + 1,
        deviceEpoch: deviceEpoch + 1,
        ...sparesNone,
      },
    )
    return disabled ?? conflict
  })
}

/** Only the attempt that finished it emits the event. */
async function finish(ctx: SurfaceContext, userId: string, act: Act): Promise<Finisher> {
  const deletedAt = ctx.clock.now()
  const set = { deletedAt, expiresAt: deletedAt + lookAgainMs }
  try {
    if ((await ctx.collections.accountDeletions.update(userId, { deletedAt: null }, set)) === null)
      return 'other'
  } catch (error) {
    // The answer was lost: the note shows whether the write took effect.
    if ((await ctx.collections.accountDeletions.get(userId))?.deletedAt !== deletedAt) throw error
  }
  ctx.emit('account.deleted', act.source, { actorId: act.actorId, targetId: userId })
  return 'this'
}

async function completeDeletion(
  ctx: SurfaceContext,
  userId: string,
  user: User | null,
  act: Act,
): Promise<Finisher> {
  const reason = act.actorId === userId ? 'logout' : 'admin'
  await endAllSessions(ctx, userId, reason, act.source, { actorId: act.actorId })
  // While the recognition ids are known that have guesses of their own.
  if (user !== null) await clearGuesses(ctx, user, 'password', 'factor')
  await removePersonalData(ctx.collections, ctx.serviceCredentials, {
    userId,
    email: user?.email ?? null,
  })
  await ctx.collections.users.take(userId)
  return finish(ctx, userId, act)
}

async function attempt(
  ctx: SurfaceContext,
  userId: string,
  act: Act,
  refusalOf: RefusalOf | undefined,
): Promise<Finisher | null> {
  if (!isUuid(userId)) return null
  let wasThere = false
  const closed = await disableForDeletion<never>(ctx, userId, async (user) => {
    wasThere = true
    await note(ctx, user, act, refusalOf === undefined ? user.credentialEpoch : onlyByRequest)
    const refusal = user.deletingAt === null ? await refusalOf?.(user) : null
    if (refusal) throw refusal
    return null
  })
  // Another attempt may have finished it since it was there.
  if (!wasThere) {
    const begun = await ctx.collections.accountDeletions.get(userId)
    if (begun === null || begun.deletedAt !== null) return null
  }
  return completeDeletion(ctx, userId, closed, act)
}

/**
 * Deletes the user. Resolves with the attempt that finished: this one, or another at the same time. `null` if there is
 * no such user. After a rejection call it again, or leave the rest to `resumeDeletions`. `refusalOf` judges the account
 * at the moment it is closed: if it gives an error, that is thrown, and nothing is deleted, then or later.
 */
export async function deleteAccount(
  ctx: SurfaceContext,
  userId: string,
  act: Act,
  refusalOf?: RefusalOf,
): Promise<Finisher | null> {
  try {
    const deleted = await attempt(ctx, userId, act, refusalOf)
    if (deleted === null) emitUserFailed(ctx, 'account.deleteFailed', act, { targetId: userId })
    return deleted
  } catch (error) {
    emitUserFailed(ctx, 'account.deleteFailed', act, { targetId: userId, error })
    throw error
  }
}

/** What becomes of the note that is there. */
function noteOver(found: AccountDeletion, fresh: AccountDeletion): Partial<AccountDeletion> {
  const { actorId, begunAt, credentialEpoch, deletedAt, expiresAt } = fresh
  if (found.deletedAt !== null) return { actorId, begunAt, credentialEpoch, deletedAt, expiresAt }
  const isOthers = credentialEpoch === onlyByRequest && found.credentialEpoch !== onlyByRequest
  return isOthers ? { expiresAt } : { actorId, credentialEpoch, expiresAt }
}

// The steps of a deletion, each of which can be repeated.

/** Whether the call that made it never finished. Then a service account has no secret that a caller knows. */
async function isUnfinished(ctx: SurfaceContext, user: User): Promise<boolean> {
  if (user.kind !== 'service') return isUnfinishedImport(user)
  const [credential] = await ctx.serviceCredentials.find({ accountId: user.id }, { limit: 1 })
  return credential === undefined
}

/**
 * Takes away an account that a call began to make with the id of a deleted one, and never finished: enabled it would
 * pass for the account of before.
 */
async function withoutUnfinished(ctx: SurfaceContext, user: User | null): Promise<User | null> {
  if (user === null || !(await isUnfinished(ctx, user))) return user
  const { id, importState } = user
  const isTaken = (await ctx.collections.users.take(id, { enabled: false, importState })) !== null
  return isTaken ? null : ctx.collections.users.get(id)
}

/**
 * `null` to close the account. If its credentials have changed, the owner may have taken the account back from a thief
 * who asked for the deletion, so the deletion is given up. The write first keeps out an attempt that is still running.
 */
async function judge(
  ctx: SurfaceContext,
  noted: AccountDeletion,
  user: User,
): Promise<'givenUp' | 'later' | null> {
  const { credentialEpoch } = noted
  const isSame = credentialEpoch === null || credentialEpoch === user.credentialEpoch
  if (user.deletingAt !== null || isSame) return null
  const { id, updatedAt } = user
  const moved = { updatedAt: Math.max(ctx.clock.now(), updatedAt + 1) }
  const isFenced =
    (await ctx.collections.users.update(id, { updatedAt, deletingAt: null }, moved)) !== null
  return isFenced ? 'givenUp' : 'later'
}

async function resumeOne(ctx: SurfaceContext, noted: AccountDeletion): Promise<void> {
  const { id, expiresAt, actorId, deletedAt } = noted
  const found = await ctx.collections.users.get(id)
  const user = deletedAt === null ? found : await withoutUnfinished(ctx, found)
  if (user !== null && user.deletingAt === null && deletedAt !== null) {
    await ctx.collections.accountDeletions.take(id, { expiresAt })
    return
  }
  if (user === null && deletedAt !== null) {
    await removePersonalData(ctx.collections, ctx.serviceCredentials, { userId: id, email: null })
    // The id of the account stays, so that no account is made with it again.
    await ctx.collections.accountDeletions.update(
      id,
      { expiresAt },
      { expiresAt: null, actorId: null },
    )
    return
  }
  const claim = { expiresAt: ctx.clock.now() + attemptMs }
  if ((await ctx.collections.accountDeletions.update(id, { expiresAt }, claim)) === null) return
  // The request may have died before it closed the account. Its caller got an error and may not have repeated it.
  const closed = await disableForDeletion(ctx, id, (now) => judge(ctx, noted, now))
  if (closed === 'givenUp') await ctx.collections.accountDeletions.take(id, { ...claim, actorId })
  else if (closed !== 'later')
    await completeDeletion(ctx, id, closed, { actorId, source: { ip: null, userAgent: null } })
}

/**
 * Completes deletions after their request has ended. It finishes those that were cut off, and looks once more at the
 * others, because a parallel request may have left something behind. It does a bounded piece of the work: call it again
 * while it answers `more`.
 */
export function resumeDeletions(ctx: SurfaceContext): Promise<'more' | 'done'> {
  const due = (limit: number) => ctx.collections.accountDeletions.due(ctx.clock.now(), limit)
  return workOff(due, (noted) => resumeOne(ctx, noted))
}

interface Owned extends Doc {
  readonly userId: string | null
}

/**
 * Removes what is stored of a user besides the user record, as the record of collections says. It also removes what was
 * registered with the address (`null` if nobody knows it any more), because a registration or link that is left over
 * must not make the account again. Each registration leaves an empty husk until it expires (see `stripped`).
 * Repeatable.
 */
async function removePersonalData(
  collections: Collections,
  serviceCredentials: Collection<ServiceCredential>,
  { userId, email }: { readonly userId: string; readonly email: string | null },
): Promise<void> {
  await Promise.all([
    ...(email === null
      ? []
      : [
          strip(collections.pendingRegistrations, email),
          takeRegistrationLinks(collections, email),
        ]),
    ...removedBy('byUserId').map((member) => takeAll<Owned>(collections[member], { userId })),
    ...removedBy('byId').map((member) => takeOne(collections[member], userId)),
    takeAll(serviceCredentials, { accountId: userId }),
  ])
  for (const member of removedBy('last')) await takeAll<Owned>(collections[member], { userId })
}

async function strip(collection: Collection<PendingRegistration>, email: string): Promise<void> {
  for await (const registration of newestFirst(collection, { email })) {
    const { id, keyHash } = registration
    await collection.update(id, { keyHash }, stripped(registration))
  }
}

function takeOne(collection: Collection<Doc>, id: string): Promise<unknown> {
  return collection.take(id)
}

async function takeAll<T extends Doc>(collection: Collection<T>, equal: Partial<T>): Promise<void> {
  for await (const { id } of newestFirst(collection, equal)) await collection.take(id)
}
