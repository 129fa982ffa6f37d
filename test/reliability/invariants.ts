import { decodeJwt } from 'jose'
import type { Collections } from '../../src/model/collections.js'
import type { RefreshFamily, Session } from '../../src/model/sessions.js'
import type { User } from '../../src/model/user.js'
import type { Denylist, DenylistEntry } from '../../src/ports/backend.js'
import type { Doc } from '../../src/ports/store.js'
import type { Surface } from '../../src/ports/surface.js'

/** What the database says of some users and all their sessions at one moment. */
export interface Picture {
  readonly users: ReadonlyMap<string, User>
  readonly families: ReadonlyMap<string, RefreshFamily>
  readonly sessions: ReadonlyMap<string, Session>
  readonly listed: ReadonlyMap<string, DenylistEntry>
}

export interface Database {
  readonly surface: Surface
  /** Past every check of the library. */
  readonly stored: Collections
  readonly denylist: Denylist
}

const byId = <T extends Doc>(docs: readonly T[]): ReadonlyMap<string, T> =>
  new Map(docs.map((doc) => [doc.id, doc]))

export async function pictureOf(
  { surface, stored, denylist }: Database,
  userIds: Iterable<string>,
): Promise<Picture> {
  const ids = [...userIds]
  const page = { limit: 1000 }
  const users = await Promise.all(ids.map((id) => stored.users.get(id)))
  const families = await Promise.all(ids.map((userId) => stored.families.find({ userId }, page)))
  const sessions = await Promise.all(ids.map((userId) => stored.sessions.find({ userId }, page)))
  const found = byId(families.flat())
  const entries = await denylist.find([...found.keys()].map((id) => `${surface}:session:${id}`))
  return {
    users: byId(users.filter((user) => user !== null)),
    families: found,
    sessions: byId(sessions.flat()),
    listed: new Map(entries.map((entry) => [entry.id.split(':')[2] ?? '', entry])),
  }
}

/** Families no refresh may use any more, whatever else their rows say. */
export function deadFamilies(picture: Picture): readonly string[] {
  return [...picture.families.values()]
    .filter((family) => {
      const user = picture.users.get(family.userId)
      const spared = user?.keptSessionId === family.id
      const outdated = user?.sessionEpoch !== family.sessionEpoch && !spared
      return outdated || family.revokedAt !== null || picture.listed.has(family.id)
    })
    .map(({ id }) => id)
}

/**
 * What is wrong with a picture in itself: the three steps of an ending may be taken only in their
 * order, nothing exists without what it belongs to, and no client holds more than the rows back.
 */
export function staticProblems(
  picture: Picture,
  refreshTokens: readonly string[],
): readonly string[] {
  return [
    ...[...picture.families.values()].flatMap((family) => familyProblems(family, picture)),
    ...[...picture.sessions.values()].flatMap((session) => sessionProblems(session, picture)),
    ...refreshTokens.flatMap((token) => tokenProblems(token, picture)),
  ]
}

function familyProblems(family: RefreshFamily, { users, sessions, listed }: Picture) {
  const { id, userId, generation, revokedAt, revokedReason } = family
  const isRevoked = revokedAt !== null
  return problems([
    [!users.has(userId), `family ${id} belongs to nobody`],
    // A login that was cut short may leave its first one without: it has given out no token.
    [!sessions.has(id) && generation > 1, `family ${id} has no session document`],
    [isRevoked !== (revokedReason !== null), `family ${id} ended without a reason, or the reverse`],
    [isRevoked && !listed.has(id), `family ${id} is revoked, and its access tokens are good`],
  ])
}

function sessionProblems({ id, active, endedAt }: Session, { families }: Picture) {
  const goesOn = families.get(id)?.revokedAt === null
  return problems([
    [active !== (endedAt === null), `session ${id} half ended`],
    [!active && goesOn, `session ${id} is inactive, and its family can be refreshed`],
  ])
}

function tokenProblems(token: string, { families, sessions }: Picture) {
  const { sid, gen, sub } = decodeJwt(token)
  const family = families.get(String(sid))
  return problems([
    [family === undefined, `a token of session ${sid} has no row`],
    [!sessions.has(String(sid)), `a token of session ${sid} has no document`],
    [Number(gen) > (family?.generation ?? 0), `a token of generation ${gen} is ahead of its row`],
    [sub !== family?.userId, `a token of session ${sid} is somebody else's`],
  ])
}

/**
 * What has happened between two pictures that may never happen. Of users who are deleted on purpose,
 * everything may go once that has begun.
 */
export function changeProblems(
  before: Picture,
  after: Picture,
  deleted: ReadonlySet<string> = new Set(),
): readonly string[] {
  const hasBegun = (userId: string) => {
    const user = after.users.get(userId)
    return deleted.has(userId) && (user === undefined || user.deletingAt !== null)
  }
  const owners = new Map([...before.users.keys()].map((id) => [id, id]))
  for (const { id, userId } of [...before.families.values(), ...before.sessions.values()]) {
    owners.set(id, userId)
  }
  const pairs = <T>(was: ReadonlyMap<string, T>, is: ReadonlyMap<string, T>) =>
    [...was]
      .filter(([id]) => is.has(id) || !hasBegun(owners.get(id) ?? ''))
      .map(([id, older]) => ({ id, was: older, is: is.get(id) }))
  return [
    ...pairs(before.families, after.families).flatMap(familyChangeProblems),
    ...pairs(before.sessions, after.sessions).flatMap(sessionChangeProblems),
    ...pairs(before.users, after.users).flatMap(userChangeProblems),
    ...pairs(before.listed, after.listed).flatMap(entryChangeProblems),
  ]
}

interface Pair<T> {
  readonly id: string
  readonly was: T
  readonly is: T | undefined
}

function familyChangeProblems({ id, was, is }: Pair<RefreshFamily>): readonly string[] {
  if (is === undefined) return [`family ${id} is gone before its time`]
  return problems([
    [!sameBirth(was, is), `family ${id} is another login's now`],
    [is.generation < was.generation, `family ${id} went back in time`],
    [was.revokedAt !== null && !sameEnd(was, is), `the end of family ${id} was rewritten`],
  ])
}

function sessionChangeProblems({ id, was, is }: Pair<Session>): readonly string[] {
  const same = is?.active === false && is.endedAt === was.endedAt && is.endReason === was.endReason
  return problems([[!was.active && !same, `session ${id} was inactive, and that was not final`]])
}

function userChangeProblems({ id, was, is }: Pair<User>): readonly string[] {
  if (is === undefined) return [`user ${id} is gone`]
  const wentBack = is.sessionEpoch < was.sessionEpoch || is.credentialEpoch < was.credentialEpoch
  return problems([[wentBack, `an epoch of user ${id} went down`]])
}

function entryChangeProblems({ id, was, is }: Pair<DenylistEntry>): readonly string[] {
  const same = is?.reason === was.reason && is.expiresAt >= was.expiresAt
  return problems([[!same, `the denylist entry of session ${id} lost its reason or its time`]])
}

function sameBirth(a: RefreshFamily, b: RefreshFamily): boolean {
  return a.userId === b.userId && a.loginAt === b.loginAt && a.sessionEpoch <= b.sessionEpoch
}

function sameEnd(a: RefreshFamily, b: RefreshFamily): boolean {
  const { revokedAt, revokedReason, generation } = a
  return (
    b.revokedAt === revokedAt && b.revokedReason === revokedReason && b.generation === generation
  )
}

/** The sentences whose condition holds. */
function problems(found: readonly (readonly [boolean, string])[]): readonly string[] {
  return found.filter(([holds]) => holds).map(([, sentence]) => sentence)
}
