/** The fields of an account that the host's code can change. */
export type AccountField = 'name' | 'enabled' | 'systemRole' | 'memberships'

/** The fields that decide what an account may do; `before` or `after` a change. */
export interface AccountStanding {
  readonly enabled?: boolean
  readonly systemRole?: string
  readonly memberships?: readonly { readonly tenantId: string }[]
}

/** How the mailbox of an account was proved: a confirmation link, a reset link, or a provider. */
export type OwnerProofWay = 'link' | 'reset' | 'provider'

/** Events about accounts, their addresses and their links to identity providers. */
export type AccountEvent =
  /** An account began: confirmed, by a provider, or at once where no address has to be confirmed. */
  | { readonly type: 'account.registered'; readonly userId: string }
  /**
   * An address was registered, and its mailbox is not proved: it may be another person's. `userId` is that of the
   * user to be: there is none yet.
   */
  | { readonly type: 'account.registrationRequested'; readonly userId: string }
  /** A registration named an address that has an account. The owner gets a mail. */
  | { readonly type: 'account.registrationRepeated' }
  /** The host's code created it. `actorId` is null when that code named no actor. */
  | {
      readonly type: 'account.created'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      /** The host's code asked for a new account, and none was made. */
      readonly type: 'account.createFailed'
      readonly actorId: string | null
      /** The error's code. */
      readonly reason: string
    }
  | {
      /** The host's code imported users of another product: one event for the whole batch. */
      readonly type: 'account.imported'
      readonly actorId: string | null
      readonly created: number
      readonly skipped: number
      readonly conflicts: number
      readonly refused: number
    }
  | {
      /** It was cut off: some of its users may have been made. */
      readonly type: 'account.importFailed'
      readonly actorId: string | null
      /** The error's code. */
      readonly reason: string
    }
  | {
      /** The owner changed it when `actorId` is `targetId`, else the host's code did. */
      readonly type: 'account.updated'
      readonly actorId: string | null
      readonly targetId: string
      readonly fields: readonly AccountField[]
      /** Those of `fields` that decide what the account may do; never the name. */
      readonly before: AccountStanding
      readonly after: AccountStanding
    }
  | {
      /**
       * The host's code or the owner asked for a deletion, and the request did not complete it. The library may still
       * complete it later: always if the account was already closed.
       */
      readonly type: 'account.deleteFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code; `not_found` when the account does not exist. */
      readonly reason: string
    }
  | {
      /** The host's code or the owner asked for a change, and it was not made. */
      readonly type: 'account.updateFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code; `not_found` when the account does not exist. */
      readonly reason: string
    }
  | {
      /**
       * The owner deleted it when `actorId` is `targetId`, else the host's code did. All of its
       * data is removed.
       */
      readonly type: 'account.deleted'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      /** An account at a provider became a way to sign in, or stopped being one. */
      readonly type: 'identity.linked' | 'identity.unlinked'
      /** Its owner, or an administrator. */
      readonly actorId: string
      readonly targetId: string
      readonly provider: string
    }
  /** The address of an account is confirmed. */
  | { readonly type: 'email.verified'; readonly userId: string }
  | {
      /**
       * The owner of the mailbox proved it for the first time. A stranger may have made the account
       * before: drop what your own code attached to the id until now. Not emitted for an account
       * that began with the proof, and not where the proof came with the password of the account: then
       * the owner knows what its maker knows, and everything stays.
       */
      readonly type: 'account.ownerProved'
      readonly userId: string
      readonly by: OwnerProofWay
    }
  | {
      /**
       * Another confirmation link was asked for. `actorId` is the administrator who asked; null for a request by
       * the public form.
       */
      readonly type: 'email.verificationRequested'
      readonly actorId: string | null
      /**
       * The user, or the user to be; null when no account and no registration of this address waits for
       * a link. Then no mail was sent.
       */
      readonly userId: string | null
    }
  | {
      /** The owner asked to move the account to another address. */
      readonly type: 'email.changeRequested'
      readonly userId: string
    }
  /** The new address is confirmed and in use. Links mailed before are void. */
  | { readonly type: 'email.changed'; readonly userId: string }
