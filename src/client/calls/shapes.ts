// Made by `npm run generate` from the operation table.

/** The shape `Authenticated` of the reference. */
export interface Authenticated {
  readonly accessToken: string
  readonly tokenType: 'Bearer'
  readonly expiresIn: number
  readonly status: 'authenticated'
  readonly user: User
}

/** The shape `User` of the reference. */
export interface User {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly emailVerified: boolean
}

/** The shape `MobileAuthenticated` of the reference. */
export interface MobileAuthenticated {
  readonly accessToken: string
  readonly tokenType: 'Bearer'
  readonly expiresIn: number
  readonly status: 'authenticated'
  readonly user: User
  readonly refreshToken: string
  readonly refreshExpiresIn: number
  readonly deviceToken?: string
  readonly recognitionId?: string
}

/** The shape `PasswordChangeRequired` of the reference. */
export interface PasswordChangeRequired {
  readonly status: 'passwordChangeRequired'
  readonly passwordToken: string
}

/** The shape `MfaRequired` of the reference. */
export interface MfaRequired {
  readonly status: 'mfaRequired'
  readonly mfaToken: string
  readonly expiresIn: number
  readonly methods: readonly ('totp' | 'backupCode' | 'webauthn')[]
}

/** The shape `MfaEnrollmentRequired` of the reference. */
export interface MfaEnrollmentRequired {
  readonly status: 'mfaEnrollmentRequired'
  readonly mfaToken: string
  readonly expiresIn: number
}

/** The shape `AccessGrant` of the reference. */
export interface AccessGrant {
  readonly accessToken: string
  readonly tokenType: 'Bearer'
  readonly expiresIn: number
}

/** The shape `Account` of the reference. */
export interface Account {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly emailVerified: boolean
  readonly kind: string
  readonly createdAt: string
  readonly hasPassword: boolean
  readonly identities: readonly { readonly provider: string; readonly linkedAt: string }[]
  readonly memberships: readonly { readonly tenantId: string }[]
}

/** The shape `Assertion` of the reference. */
export interface Assertion {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string | null
  }
}

/** The shape `ServiceAccount` of the reference. */
export interface ServiceAccount {
  readonly id: string
  readonly kind: 'service'
  readonly name: string
  readonly email: string
  readonly systemRole: string
  readonly enabled: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly credentials: readonly ServiceCredential[]
}

/** The shape `ServiceCredential` of the reference. */
export interface ServiceCredential {
  readonly credentialId: string
  readonly accountId: string
  readonly clientId: string
  readonly status: 'active' | 'revoked'
  readonly createdAt: string
  readonly createdBy: string | null
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
  readonly revokedBy: string | null
}

/** The shape `Passkey` of the reference. */
export interface Passkey {
  readonly credentialId: string
  readonly name: string
  readonly createdAt: string
}

/** The shape `PasskeyAssertion` of the reference. */
export interface PasskeyAssertion {
  readonly challengeId: string
  readonly options: {
    readonly rpId?: string
    readonly challenge: string
    readonly timeout?: number
    readonly allowCredentials?: readonly {
      readonly id: string
      readonly type: string
      readonly transports?: readonly string[]
    }[]
    readonly userVerification?: string
  }
}

/** The shape `ModuleSummary` of the reference. */
export interface ModuleSummary {
  readonly name: string
  readonly activeEnvironment: string
  readonly needsRestart: boolean
}

/** The shape `Module` of the reference. */
export interface Module {
  readonly name: string
  readonly activeEnvironment: string
  readonly needsRestart: boolean
  readonly environments: readonly {
    readonly name: string
    readonly active: boolean
    readonly revision: number
  }[]
  readonly fields: readonly {
    readonly key: string
    readonly label: string
    readonly type: string
    readonly options?: readonly string[]
    readonly min?: number
    readonly max?: number
    readonly group: string
    readonly child?: string
    readonly envVar?: string
    readonly secret?: boolean
    readonly default?: string
    readonly surface?: 'operator' | 'client' | 'both'
    readonly emptyIsValue?: boolean
    readonly items?: readonly {
      readonly key: string
      readonly label: string
      readonly type: string
      readonly options?: readonly string[]
      readonly min?: number
      readonly max?: number
      readonly required?: boolean
      readonly condition?: { readonly field: string; readonly equals: string }
    }[]
  }[]
}

/** The shape `ModulePatch` of the reference. */
export interface ModulePatch {
  readonly config?: Readonly<Record<string, string>>
  readonly recordLists?: readonly {
    readonly field: string
    readonly create?: readonly string[]
    readonly remove?: readonly string[]
  }[]
  readonly revision?: number
  readonly environment?: string
}

/** The shape `Environment` of the reference. */
export interface Environment {
  readonly module: string
  readonly environment: string
  readonly active: boolean
  readonly revision: number
  readonly config: Readonly<Record<string, string>>
  readonly secretsSet: readonly string[]
  readonly recordLists: readonly {
    readonly field: string
    readonly elements: readonly {
      readonly slug: string
      readonly label: string
      readonly [name: string]: string | null
    }[]
  }[]
  readonly sources: Readonly<Record<string, 'store' | 'env' | 'default'>>
}

/** The shape `ConfigPatch` of the reference. */
export interface ConfigPatch {
  readonly config?: Readonly<Record<string, string>>
  readonly recordLists?: readonly {
    readonly field: string
    readonly create?: readonly string[]
    readonly remove?: readonly string[]
  }[]
  readonly revision?: number
}

/** What a login leads to, in a browser or in an app. */
export type LoginReply = Authenticated | MobileAuthenticated | UnfinishedLogin

/** What a login has to go on with. */
export type UnfinishedLogin = PasswordChangeRequired | MfaRequired | MfaEnrollmentRequired
