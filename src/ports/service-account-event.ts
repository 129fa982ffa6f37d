/** Why a client-credentials grant was refused. Its caller is told none of it. */
export type GrantRefusal =
  | 'unknown_client'
  | 'wrong_secret'
  | 'credential_revoked'
  | 'account_disabled'
  | 'not_a_service_account'

/** What happens to service accounts: the machines among the operator users. */
export type ServiceAccountEvent =
  | {
      /**
       * A service account got a token. For one credential, address and client software, an audit record is left once an
       * hour.
       */
      readonly type: 'serviceToken.issued'
      /** The account. */
      readonly userId: string
      readonly credentialId: string
    }
  | {
      /** A client-credentials grant was refused. */
      readonly type: 'serviceToken.refused'
      /** Null for an unknown client id. */
      readonly userId: string | null
      readonly credentialId: string | null
      readonly reason: GrantRefusal
    }
  | {
      /** A service account has a credential more, or one of its credentials is void from now on. */
      readonly type: 'serviceCredential.issued' | 'serviceCredential.revoked'
      readonly actorId: string | null
      /** The account. */
      readonly targetId: string
      readonly credentialId: string
    }
  | {
      /** The host's code or an administrator asked for it, and it was not done. */
      readonly type: 'serviceCredential.issueFailed' | 'serviceCredential.revokeFailed'
      readonly actorId: string | null
      readonly targetId: string
      /** The error's code. */
      readonly reason: string
    }
