import type { IntentKind } from '../../../src/engine/intents.js'
import type { OauthHost } from '../../contract/oauth/oauth-host.js'
import type { Reply } from '../../support/hosts/http-client.js'
import type { Subject } from './subject.js'

/** An intent that has begun, and the request that it ends in. */
export interface Begun {
  readonly subject: Subject
  readonly finish: () => Promise<Reply>
  /** The same request without what the intent is bound to, where it is bound to anything. */
  readonly elsewhere?: () => Promise<Reply>
}

export interface Start {
  /** The kinds of the table that it passes through. */
  readonly kinds: readonly IntentKind[]
  readonly begin: (host: OauthHost) => Promise<Begun>
}

export const surface = 'client'
export const at = (path: string) => `/v1/auth/${surface}${path}`
export const publicly = ({ host }: Pick<Subject, 'host'>, path: string, body: object) =>
  host.send('POST', at(path), { body })
