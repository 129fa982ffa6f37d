import type { EnvironmentOp } from '../reliability/environment-model.js'

export type Operation =
  | 'login'
  | 'second'
  | 'refresh'
  | 'me'
  | 'logout'
  | 'logoutEverywhere'
  | 'change'
  | 'forgot'
  | 'reset'
  | 'register'
  | 'verify'
  | 'tabLogin'
  | 'tabRefresh'
  | 'view'
  | 'tabLogout'
  | 'grant'
  | 'machineMe'
  | 'issueSecret'
  | 'revokeSecret'
  | 'disable'
  | 'enable'
  | 'endAll'
  | 'lookAtShop'
  | 'editShop'
  | 'readShop'
  | 'closePasswords'
  | 'openPasswords'

/** What a thief may hold. */
export const things = [
  'accessToken',
  'refreshToken',
  'link',
  'password',
  'code',
  'machineSecret',
] as const
export type Thing = (typeof things)[number]

/** What a token says of itself. Times are epoch milliseconds. */
export interface Claims {
  readonly sid: string
  readonly jti: string
  /** The generation of a refresh token; 0 of an access token. */
  readonly gen: number
  readonly exp: number
}

/** Between the digits of an app and the number of the time step at which they were shown. */
export const inStep = ' in step '

/** A request and its reply, as a bystander on the wire sees them. */
export interface Exchange {
  readonly actor: string
  /** Whether it is of somebody who has no business there. */
  readonly foreign: boolean
  /** What of another's was used; null without. */
  readonly stolen: Thing | null
  /** Whose account it is about. */
  readonly owner: string
  /** Its name among the requests. */
  readonly request: string
  readonly operation: Operation
  /** The place of the process that was asked. */
  readonly replica: number
  /** Of an editor of the shop's configuration: what it asks for; null of others. */
  readonly edit: EnvironmentOp | null
  /** The session of the token that was shown; empty without one. */
  readonly session: string
  /** The token that was shown; null without one. */
  readonly shown: Claims | null
  /** The secret that was shown: a refresh token, a mailed one, a code or a machine's; empty without. */
  readonly spends: string
  /** The login that waits for the code that was shown; empty without one. */
  readonly ticket: string
  /** The password that was to be; empty where none is set. */
  readonly sets: string
  /** The decision of the scheduler at which it began, and the time then. */
  readonly begun: number
  readonly begunAt: number
  /** The step of the reply; null where none came. */
  ended: number | null
  endedAt: number
  status: number
  code: string
  body: string
  /** The refresh token in the reply; null without one. */
  issued: Claims | null
  /** Whether the reply never reached its caller. */
  lost: boolean
  /** Whether the recognition id of a login went with it. */
  readonly known: boolean
  /** True when a call of this request was made to fail, or was not answered in time. */
  struck: boolean
}

/** A mail with a link, as it lies in a mailbox. */
export interface MailedLink {
  readonly owner: string
  readonly kind: 'reset' | 'verify'
  readonly token: string
  /** The decision of the scheduler before it came. */
  readonly step: number
}

/** A refresh family was moved on to this generation, whose first token is this one. */
export interface Rotation {
  readonly session: string
  readonly generation: number
  readonly rotatedTo: string
}

/** A revision of the shop's configuration that was written. */
export interface Revised {
  readonly revision: number
  readonly text: string
  readonly roster: readonly string[]
  /** The decision of the scheduler before it, and the time then. */
  readonly step: number
  readonly at: number
}

/** A session was opened, for this request. */
export interface Opening {
  readonly session: string
  readonly request: string
}

/** A step in the end of a session, as the store carried it out. */
export interface Ending {
  /** It is on the denylist; the row of its refresh tokens is revoked. */
  readonly kind: 'deny' | 'revoke'
  readonly session: string
}

/** An audit record that was written. */
export interface Recorded {
  readonly action: string
  readonly targetId: string
}

/** A process was killed, and another took its place. */
export interface Restart {
  /** The decision of the scheduler. */
  readonly step: number
  readonly replica: number
}

/** A call of the backend and what was made of it, by the operation that made it. */
export type Struck = ReadonlyMap<string, number>

/** What a seed decides of the whole history. */
export interface Profile {
  /** How far the clock of each replica is from the right time, in milliseconds. */
  readonly skews: readonly [number, number, number]
  /** Wrong passwords before an address is locked; 0 for no lockout. */
  readonly lockoutThreshold: number
  readonly losesDenylist: boolean
  /** The share of refreshes whose reply is lost. */
  readonly lostReplies: number
}

export interface History {
  readonly profile: Profile
  readonly steps: number
  readonly exchanges: readonly Exchange[]
  readonly mails: readonly MailedLink[]
  readonly rotations: readonly Rotation[]
  readonly recorded: readonly Recorded[]
  readonly revised: readonly Revised[]
  readonly openings: readonly Opening[]
  readonly endings: readonly Ending[]
  readonly restarts: readonly Restart[]
  /** The decision at which the denylist was lost; null where it was not. */
  readonly denylistLost: number | null
  /** What no reply to anyone else, no row and no line of the log may hold, by whose it is. */
  readonly secrets: ReadonlyMap<string, ReadonlySet<string>>
  /** What no reply to anyone else may hold: address, name and id, by whose they are. */
  readonly marks: ReadonlyMap<string, readonly string[]>
  /** The owners who have a second factor. */
  readonly withFactor: ReadonlySet<string>
  /** All that was written into rows and into the log. */
  readonly written: string
  /** The owners who could not sign in, change their password and sign out once no call failed any more. */
  readonly stuck: readonly string[]
  readonly struck: Struck
  /** SHA-256 of every decision and reply. */
  readonly trace: string
}

export const succeeded = ({ status }: Exchange): boolean => status >= 200 && status < 300

/** The session that a reply signed somebody in to; empty where it did not. */
export const sessionIn = ({ issued }: Exchange): string => issued?.sid ?? ''

const signIns: ReadonlySet<Operation> = new Set(['login', 'second', 'tabLogin'])

/** Whether this opens a session where it succeeds. */
export const isSignIn = ({ operation }: Pick<Exchange, 'operation'>): boolean =>
  signIns.has(operation)

const uses: ReadonlySet<Operation> = new Set(['me', 'refresh', 'view', 'tabRefresh'])

/** Whether this does something by right of a session. */
export const isUse = ({ operation }: Pick<Exchange, 'operation'>): boolean => uses.has(operation)

/** The accounts' own people have a factor or not, whatever the library says. */
export const isRefresh = ({ operation }: Pick<Exchange, 'operation'>): boolean =>
  operation === 'refresh' || operation === 'tabRefresh'
