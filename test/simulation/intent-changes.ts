import type { Doc } from '../../src/ports/store.js'
import { authModuleName } from '../../src/settings/settings.js'

/** The counters of an account on which intents hang. */
export interface Epochs {
  readonly credential: number
  readonly session: number
  readonly device: number
}

/** What intents ask about an account. */
export interface Account extends Epochs {
  readonly enabled: boolean
  readonly proved: boolean
  readonly email: string
}

/** What a write on an account was to do. */
export type AccountWrite = 'intent' | 'change' | 'disable' | 'enable' | 'signOut' | 'fence'

/** What happened to intents, to the accounts that they are about, and to the switch of their method. */
export type IntentChange =
  | {
      /** The row of a link to a new password, in the place of an earlier one, or of a login that waits. */
      readonly kind: 'link' | 'ticket'
      readonly intent: string
      readonly userId: string
      readonly email: string
      readonly since: Epochs
      readonly expiresAt: number
      /** The account at that moment. */
      readonly account: Account
    }
  /** `hit` is false where it was taken already, or another one is in its place. */
  | { readonly kind: 'take'; readonly intent: string; readonly hit: boolean }
  | {
      readonly kind: 'account'
      readonly userId: string
      readonly write: AccountWrite
      /** The intent that it is the effect of; empty without one. */
      readonly intent: string
      /** After the write; null where the guard did not hold, and nothing was written. */
      readonly account: Account | null
    }
  | { readonly kind: 'switch'; readonly isOn: boolean }

const users = 'client_users'
const links = 'client_intents'
const challenges = 'client_challenges'

export interface StoreWrite {
  readonly collection: string
  readonly id: string
  /** What was to be written, or what a taking asked for. */
  readonly fields: object
  /** The document after it, or the one that was taken; null where nothing was written. */
  readonly after: Doc | null
}

export interface IntentChanges {
  inserted(write: StoreWrite): IntentChange | null
  updated(write: StoreWrite): IntentChange | null
  taken(write: StoreWrite): IntentChange | null
}

const text = (doc: object, key: string): string => {
  const value: unknown = Reflect.get(doc, key)
  return typeof value === 'string' ? value : ''
}
const whole = (doc: object, key: string): number => Number(Reflect.get(doc, key) ?? 0)

const epochsOf = (doc: object): Epochs => ({
  credential: whole(doc, 'credentialEpoch'),
  session: whole(doc, 'sessionEpoch'),
  device: whole(doc, 'deviceEpoch'),
})

const accountOf = (doc: object): Account => ({
  ...epochsOf(doc),
  enabled: Reflect.get(doc, 'enabled') === true,
  proved: Reflect.get(doc, 'emailVerifiedAt') !== null,
  email: text(doc, 'email'),
})

/** Null for a write of which no intent knows. */
function accountWriteOf(set: object): AccountWrite | null {
  if ('lastLoginAt' in set) return 'fence'
  if ('lastIntentId' in set || 'settledEnrollmentId' in set) return 'intent'
  if ('enabled' in set) return Reflect.get(set, 'enabled') === true ? 'enable' : 'disable'
  if ('passwordHash' in set) return 'deviceEpoch' in set ? 'change' : null
  return 'sessionEpoch' in set ? 'signOut' : null
}

/** Knows what the accounts are by what was written to them so far. */
export function intentChanges(): IntentChanges {
  const accounts = new Map<string, Account>()

  function kept({ collection, id, after }: StoreWrite): Account | null {
    if (collection !== users || after === null) return null
    const account = accountOf(after)
    accounts.set(id, account)
    return account
  }

  function issued(kind: 'link' | 'ticket', intent: string, doc: object): IntentChange | null {
    const userId = text(doc, 'userId')
    const account = accounts.get(userId)
    if (account === undefined) return null
    const expiresAt = whole(doc, 'expiresAt')
    const email = text(doc, 'boundTo')
    return { kind, intent, userId, email, since: epochsOf(doc), expiresAt, account }
  }

  const linkIn = (doc: Doc | null): IntentChange | null =>
    doc !== null && text(doc, 'kind') === 'resetPassword'
      ? issued('link', text(doc, 'secretHash'), doc)
      : null

  return {
    inserted(write) {
      const { collection, id, after } = write
      kept(write)
      if (after === null) return null
      if (collection === links) return linkIn(after)
      const isWaiting = collection === challenges && text(after, 'kind') === 'secondFactor'
      return isWaiting ? issued('ticket', id, after) : null
    },

    updated(write) {
      const { collection, id, fields, after } = write
      const account = kept(write)
      if (collection === links) return 'secretHash' in fields ? linkIn(after) : null
      if (id.startsWith(`${authModuleName}/`) && 'values' in fields && after !== null) {
        const isOff = text(Object(fields.values), 'passwordLoginClientEnabled') === 'false'
        return { kind: 'switch', isOn: !isOff }
      }
      const done = collection === users ? accountWriteOf(fields) : null
      if (done === null) return null
      const intent = text(fields, 'lastIntentId')
      return { kind: 'account', userId: id, write: done, intent, account }
    },

    taken({ collection, id, fields, after }) {
      const hit = after !== null
      if (collection === challenges) return { kind: 'take', intent: id, hit }
      const isLink = collection === links && id.startsWith('resetPassword:')
      return isLink ? { kind: 'take', intent: text(fields, 'secretHash'), hit } : null
    },
  }
}
