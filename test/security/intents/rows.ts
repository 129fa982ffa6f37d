import type { ChangeName } from './changes.js'
import type { StartName } from './starts.js'

/** What of all changes voids an intent, by the answer to it. Every change that no row names leaves it good. */
export interface Row {
  readonly voided: Readonly<Record<string, readonly ChangeName[]>>
  /** Changes that such an account cannot undergo, by the reason. */
  readonly cannot: Readonly<Record<string, readonly ChangeName[]>>
}

/** An account that is gone, was disabled, or has another password or address. */
const credentials = [
  ...(['password changed', 'password reset', 'address changed'] as const),
  ...(['disabled', 'disabled and enabled', 'deleted', 'deleted and registered again'] as const),
] as const
/** At once, and by an ending that died between the denylist and the row. */
const sessionEnded = ['session ended', 'session on the denylist alone'] as const
const allSessions = ['all sessions ended', 'factors reset'] as const
/** What ends the session that the last request comes from is refused before the intent is looked at. */
const endsSession = [
  ...(['password reset', ...sessionEnded, ...allSessions] as const),
  ...(['disabled', 'disabled and enabled', 'deleted', 'deleted and registered again'] as const),
] as const

const noFactor = { 'it has none': ['app removed', 'passkey removed'] } as const
const oneApp = { 'it has one': ['app added'], 'it has none': ['passkey removed'] } as const
const onePasskey = { 'it has none': ['app removed'] } as const
const noPassword = { ...noFactor, 'it has no password': ['password changed'] } as const
const googleWithApp = { ...oneApp, 'it has no password': ['password changed'] } as const

const anotherAddress = {
  voided: {
    '400 invalid_token': [...credentials, ...allSessions, 'app added', 'passkey added'],
    '400 current_password_required': [...sessionEnded],
  },
  cannot: noFactor,
} as const satisfies Row

const newPassword = {
  '400 invalid_token': credentials,
  '403 password_login_disabled': ['passwords off'],
} as const

const inLogin = [
  ...(['app added', 'passkey added', 'passwords off'] as const),
  ...([...credentials, ...allSessions] as const),
] as const

const atGoogle = {
  oauth_failed: ['disabled'],
  // The address belongs to the new account; a deleted one alone leaves it free.
  account_exists_link_required: ['deleted and registered again'],
  oauth_provider_disabled: ['google off'],
} as const

const linked = [
  ...(['password changed', 'password reset', 'address changed', ...sessionEnded] as const),
  ...([...allSessions, 'disabled', 'disabled and enabled', 'passkey added'] as const),
] as const
const flowGone = ['deleted', 'deleted and registered again'] as const

/** The whole table: what voids each intent, and nothing else does. */
export const rows: Readonly<Record<StartName, Row>> = {
  'a link that confirms a registration': {
    voided: {
      '403 registration_disabled': ['registration off'],
      '403 password_login_disabled': ['passwords off'],
    },
    cannot: noFactor,
  },
  'a link that confirms an address': {
    // Its maker may be a stranger, who must not void the link of the mailbox's owner.
    voided: { '400 invalid_token': credentials.filter((one) => one !== 'password changed') },
    cannot: { ...noFactor, 'its mailbox is not proved': ['app added', 'passkey added'] },
  },
  'a link that confirmed an address': {
    voided: { '400 invalid_token': credentials },
    cannot: noFactor,
  },
  'a link to another address, in the session that asked': anotherAddress,
  'a link to another address, with the password': {
    voided: {
      '400 invalid_token': anotherAddress.voided['400 invalid_token'],
      '403 password_login_disabled': ['passwords off'],
    },
    cannot: noFactor,
  },
  'a link to another address of an account with an app': {
    voided: {
      '400 invalid_token': [...credentials, ...allSessions, 'app removed', 'passkey added'],
      '400 current_password_required': [...sessionEnded],
    },
    cannot: oneApp,
  },
  // To end all sessions must leave the owner the way back in.
  'a link for a new password': { voided: newPassword, cannot: noFactor },
  'a link for a new password of an account with an app': { voided: newPassword, cannot: oneApp },
  // It comes of a login, and inherits what that hangs on.
  'a password that is too old': {
    voided: {
      '400 invalid_token': [...credentials, ...allSessions, 'app added', 'passkey added'],
      '403 password_login_disabled': ['passwords off'],
    },
    cannot: noFactor,
  },
  // Which factors there are, the login asks when it is shown; a first one ends all that is about to be signed in.
  'a mailed code': {
    voided: {
      '401 invalid_credentials': [...credentials, ...allSessions, 'app added', 'passkey added'],
    },
    cannot: noFactor,
  },
  'a code after a password': {
    voided: {
      '401 mfa_ticket_invalid': [
        ...([...credentials, ...allSessions] as const),
        ...(['app removed', 'passkey added', 'passwords off'] as const),
      ],
    },
    cannot: oneApp,
  },
  'a code after Google': {
    voided: {
      '401 mfa_ticket_invalid': [
        ...credentials.filter((one) => one !== 'password changed'),
        ...([...allSessions, 'app removed', 'passkey added', 'google off'] as const),
      ],
    },
    cannot: googleWithApp,
  },
  'a passkey after a password': {
    voided: {
      '401 mfa_ticket_invalid': [
        ...([...credentials, ...allSessions] as const),
        ...(['app added', 'passkey added', 'passkey removed', 'passwords off'] as const),
      ],
    },
    cannot: onePasskey,
  },
  'an app enrolled in a login': {
    voided: { '401 mfa_ticket_invalid': inLogin, '403 mfa_method_disabled': ['apps off'] },
    cannot: noFactor,
  },
  'a passkey registered in a login': {
    voided: { '401 mfa_ticket_invalid': inLogin, '403 mfa_method_disabled': ['passkeys off'] },
    cannot: noFactor,
  },
  'an app enrolled in a session': {
    voided: {
      '401 invalid_mfa_code': [
        ...(['password changed', 'address changed', 'app added', 'passkey added'] as const),
      ],
      '401 session_revoked': endsSession,
      '403 mfa_method_disabled': ['apps off'],
    },
    cannot: noFactor,
  },
  'an app enrolled beside a passkey': {
    voided: {
      '401 invalid_mfa_code': [
        ...(['password changed', 'address changed', 'app added'] as const),
        ...(['passkey added', 'passkey removed'] as const),
      ],
      '401 session_revoked': endsSession,
      '403 mfa_method_disabled': ['apps off'],
    },
    cannot: onePasskey,
  },
  'a passkey registered in a session': {
    voided: {
      '400 webauthn_failed': [
        ...(['password changed', 'address changed', 'app added', 'passkey added'] as const),
      ],
      '401 session_revoked': endsSession,
      '403 mfa_method_disabled': ['passkeys off'],
    },
    cannot: noFactor,
  },
  'a passkey registered beside an app': {
    voided: {
      '400 webauthn_failed': [
        ...(['password changed', 'address changed', 'app removed', 'passkey added'] as const),
      ],
      '401 session_revoked': endsSession,
      '403 mfa_method_disabled': ['passkeys off'],
    },
    cannot: oneApp,
  },
  // Both factors at once: it hangs on no password, and on no session.
  'a passkey in place of both factors': {
    voided: {
      '401 invalid_credentials': [
        ...(['passkey removed', 'factors reset'] as const),
        ...(['disabled', 'deleted', 'deleted and registered again'] as const),
        // They take a proof of this very passkey, whose counter has moved past the response's.
        ...(['address changed', 'app added', 'passkey added'] as const),
      ],
      '403 mfa_method_disabled': ['passkeys off', 'passkeys second only'],
    },
    cannot: onePasskey,
  },
  'a passkey proved in a session': {
    voided: {
      '401 invalid_mfa_code': [
        ...(['password changed', 'address changed', 'app added', 'passkey added'] as const),
      ],
      '401 session_revoked': endsSession,
      '404 factor_not_found': ['passkey removed'],
    },
    cannot: onePasskey,
  },
  // What comes back says who signed in, and is judged as a new login.
  'a browser at Google': { voided: atGoogle, cannot: noPassword },
  'an app at Google': { voided: atGoogle, cannot: noPassword },
  'an account at Google linked in a session': {
    voided: {
      oauth_failed: [...linked, 'app added'],
      '400 invalid_oauth_state': flowGone,
      oauth_provider_disabled: ['google off'],
    },
    cannot: noFactor,
  },
  'an account at Google linked beside an app': {
    voided: {
      oauth_failed: [...linked, 'app removed'],
      '400 invalid_oauth_state': flowGone,
      oauth_provider_disabled: ['google off'],
    },
    cannot: oneApp,
  },
  // Which factors there are, the login asks when the code is exchanged; but a first one ends all that is
  // signed in, and what is about to be.
  'the code of an app': {
    voided: {
      '400 invalid_token': [
        ...credentials.filter((one) => one !== 'password changed'),
        ...([...allSessions, 'app added', 'passkey added'] as const),
      ],
      '403 oauth_provider_disabled': ['google off'],
    },
    cannot: noPassword,
  },
}
