import { isTenantId } from '../../engine/accounts.js'
import { isStorable } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'
import {
  addressStartLength,
  addressStartOf,
  severalTenants,
  type User,
  weekOf,
} from '../../model/user.js'
import type { UserKind } from '../../ports/surface.js'
import { hostPage } from '../context/actor.js'
import { readEmail } from '../context/email-address.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { recordOf, type UserRecord } from './user-export.js'

/** A page of users. */
export interface UserPage {
  /** By id: the oldest first, but for ids that an import gave. With `tenantId` or times of creation, in no set order. */
  readonly users: readonly UserRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of users to read: those for whom all filters hold that are given. Times are epoch milliseconds. */
export interface UserPageRequest {
  /** Default empty: people. */
  readonly kind?: UserKind
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page, of the same filters. Default: the first page. */
  readonly after?: string
  /** What the address begins with, in upper or lower case: at least its first 3 characters. By an index on these. */
  readonly text?: string
  /** By an index where false. */
  readonly enabled?: boolean
  /** By an index, which has users of several tenants under one entry. */
  readonly tenantId?: string
  /** Made then or later. By an index on the week, for at most a year up to `createdBefore` or now. */
  readonly createdAfter?: number
  readonly createdBefore?: number
  /** Who last signed in then or later. By no index: each login would have to write it. */
  readonly signedInAfter?: number
  /** Who last signed in earlier, or never did. By no index. */
  readonly signedInBefore?: number
}

type Filters = Omit<UserPageRequest, 'limit' | 'after'>

/** How many documents one call may read. A read of fewer than `leastRead` counts for as many: an empty one costs, too. */
const mostRead = 1000
const leastRead = 30
const mostWeeks = 53

const isTime = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const time = [isTime, 'a whole number of milliseconds since 1970'] as const

const forms: Readonly<
  Record<keyof Filters, readonly [is: (value: unknown) => boolean, form: string]>
> = {
  kind: [(value) => value === '' || value === 'service', "'', for people, or 'service'"],
  text: [
    (value) => isStorable(value) && value.trim().length >= addressStartLength,
    `the first ${addressStartLength} characters of an address, or more of them`,
  ],
  enabled: [(value) => typeof value === 'boolean', 'true or false'],
  tenantId: [isTenantId, 'a text of 1 to 64 characters'],
  createdAfter: time,
  createdBefore: time,
  signedInAfter: time,
  signedInBefore: time,
}

function refuse(problem: string): never {
  throw new AuthError('invalid_request', { detail: `A page's ${problem}` })
}

/** The index values that have all users for whom the filters hold, and others: see `isWanted`. */
function placesOf(filters: Filters, now: number): readonly Partial<User>[] {
  const { kind = '', text, enabled, tenantId, createdAfter, createdBefore = now } = filters
  // The second place of each is that of records from before the field.
  if (text !== undefined) {
    return [addressStartOf(text), ''].map((addressStart) => ({ kind, addressStart }))
  }
  if (tenantId !== undefined) {
    return [...new Set([tenantId, severalTenants])].map((soleTenant) => ({ kind, soleTenant }))
  }
  if (createdAfter !== undefined) {
    const first = weekOf(createdAfter)
    // Another replica's clock may be ahead.
    const count = weekOf(Math.min(createdBefore, now)) + 2 - first
    if (count <= mostWeeks) {
      const weeks = Array.from({ length: Math.max(count, 0) }, (_, index) => first + index)
      return [0, ...weeks].map((createdWeek) => ({ kind, createdWeek }))
    }
  }
  return [enabled === false ? { kind, enabled } : { kind }]
}

function isWanted(user: User, filters: Filters): boolean {
  const { text = '', enabled = user.enabled, tenantId } = filters
  const { createdAfter = 0, createdBefore = Number.POSITIVE_INFINITY } = filters
  const { signedInAfter, signedInBefore = Number.POSITIVE_INFINITY } = filters
  const isMember =
    tenantId === undefined || user.memberships.some((one) => one.tenantId === tenantId)
  const isOfTime = user.createdAt >= createdAfter && user.createdAt < createdBefore
  const signedInAt = user.lastLoginAt ?? -1
  const hasSignedIn = signedInAt >= (signedInAfter ?? -1) && signedInAt < signedInBefore
  const isOfState = user.enabled === enabled
  return user.email.startsWith(text) && isOfState && isMember && isOfTime && hasSignedIn
}

/** The place to go on in, and the id to go on after: `2:id`, or the id alone in the first. */
function positionOf(after: string, places: number): readonly [place: number, id: string] {
  const [, place = '0', id = after] = /^(\d{1,2}):(.*)$/.exec(after) ?? []
  if (Number(place) >= places) refuse('after must be the next of the page before.')
  return [Number(place), id]
}

/** Of the filters of `given`, in the form of what they are compared with. */
async function filtersOf(given: UserPageRequest): Promise<Filters> {
  for (const [name, [is, form]] of Object.entries(forms)) {
    const value = given[name as keyof Filters]
    if (value !== undefined && !is(value)) refuse(`${name} must be ${form}.`)
  }
  const { text } = given
  if (text === undefined) return given
  return { ...given, text: (await readEmail(text)) ?? text.trim().toLowerCase() }
}

export async function listUsers(
  { collections, clock }: Pick<SurfaceContext, 'collections' | 'clock'>,
  given: UserPageRequest,
): Promise<UserPage> {
  const { kind, text, enabled, tenantId, ...others } = given
  const { createdAfter, createdBefore, signedInAfter, signedInBefore, ...request } = others
  // One more than asked for shows whether there is a next page.
  const { limit: atOnce, after = '' } = hostPage(request).read
  const filters = await filtersOf(given)
  const places = placesOf(filters, clock.now())
  let [place, id] = positionOf(after, places.length)
  const shown: User[] = []
  const pageTo = (next: string | null) => ({ users: shown.map(recordOf), next })
  const goOn = () => pageTo(place === 0 ? id : `${place}:${id}`)
  const limit = Math.max(atOnce, leastRead)
  for (let cost = 0; cost < mostRead; ) {
    const equal = places[place]
    if (equal === undefined) return pageTo(null)
    const found = await collections.users.find(equal, { limit, ...(id && { after: id }) })
    for (const user of found) {
      if (shown.length === atOnce - 1) return goOn()
      id = user.id
      if (isWanted(user, filters)) shown.push(user)
    }
    cost += Math.max(found.length, leastRead)
    if (found.length > 0) continue
    place += 1
    id = ''
  }
  return place < places.length ? goOn() : pageTo(null)
}
