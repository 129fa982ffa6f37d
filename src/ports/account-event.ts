/** What the host's code can change of an account. */
export type AccountField = 'name' | 'enabled' | 'systemRole' | 'memberships'

/** What decides what an account may do, as it was or is. */
export interface AccountStanding {
  readonly enabled?: boolean
  readonly systemRole?: string
  readonly memberships?: readonly { readonly tenantId: string }[]
}

/** What is done to accounts themselves, their addresses and their links to providers. */
export type AccountEvent =
  | { readonly type: 'account.registered'; readonly userId: string }
  /** Somebody tried to register an address that has an account. Its owner is told by mail. */
  | { readonly type: 'account.registrationRepeated' }
  /** By the host's code, on behalf of `actorId` or, when null, of nobody it named. */
  | {
      readonly type: 'account.created'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      readonly type: 'account.createFailed'
      readonly actorId: string | null
      /** The error's code. */
      readonly reason: string
    }
  | {
      /** By its owner when `actorId` is `targetId`, else by the host's code. */
      readonly type: 'account.updated'
      readonly actorId: string | null
      readonly targetId: string
      readonly fields: readonly AccountField[]
      /** Of `fields`, those that decide what the account may do; never the name. */
      readonly before: AccountStanding
      readonly after: AccountStanding
    }
  | {
      /** Of a deletion cut off: the account is disabled by then, and it is gone on with. */
      readonly type: 'account.updateFailed' | 'account.deleteFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code; `not_found` when there is no such account. */
      readonly reason: string
    }
  | {
      /** By its owner when `actorId` is `targetId`, else by the host's code. Nothing of it is left. */
      readonly type: 'account.deleted'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      /** An account at a provider became, or is no longer, a way to sign in. */
      readonly type: 'identity.linked' | 'identity.unlinked'
      /** Its owner, or an administrator. */
      readonly actorId: string
      readonly targetId: string
      readonly provider: string
    }
  | { readonly type: 'email.verified'; readonly userId: string }
  | {
      /** `actorId` is the administrator who asked, or null for whoever used the public form. */
      readonly type: 'email.verificationRequested'
      readonly actorId: string | null
      /** Null when no account waits for a link: then none was mailed. */
      readonly userId: string | null
    }
  | {
      /** Its owner wants the account moved to another address. */
      readonly type: 'email.changeRequested'
      readonly userId: string
    }
  /** It was: the new address is confirmed, and links mailed before are void. */
  | { readonly type: 'email.changed'; readonly userId: string }
