import type { Surface } from '../../../src/ports/surface.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import type { Enrolled } from '../../support/people/authenticator.js'
import type { Person } from '../../support/people/people.js'
import type { SettingsHost } from '../settings/settings-host.js'
import type { ControlName } from './controls.js'

/** Where a pathway is walked, and by whom. */
export interface Walk {
  readonly host: SettingsHost
  readonly surface: Surface
  readonly who: Person
  /** `who`, when a control gave them an authenticator app. */
  readonly enrolled: Enrolled | null
}

/** What the last step of a pathway may be sent with. */
export interface StepOptions {
  /** The surface it is sent to; that of the walk by default. */
  readonly at?: Surface
  /** The address it comes from; a new one by default. */
  readonly from?: string
}

/** The last step of a pathway, to be sent as often as a control wants. */
export type Step = (options: StepOptions) => Promise<Reply>

/** One way to tokens, or to an operation that could be mistaken for one. */
export interface Pathway {
  /** The operation of the last step. */
  readonly of: string
  readonly name: string
  readonly surfaces?: readonly Surface[]
  readonly options?: HostOptions
  /** Leads up to the last step and returns it, with whose it is when it is not the walker's own. */
  readonly prepare: (
    walk: Walk,
  ) => Promise<{ readonly step: Step; readonly userId?: string; readonly email?: string }>
  /** What each control makes of the last step; why it cannot stand in this way, when it cannot. */
  readonly cells: Readonly<Record<ControlName, string | { readonly cannot: string }>>
}

/** What a reply gives: `tokens`, what a login still lacks, or a refusal. */
export function givenBy(reply: Reply): string {
  const hasCookie = reply.setCookies.some((cookie) => /_refresh=[^;]/.test(cookie))
  if (reply.status >= 400) {
    return `${hasCookie ? 'tokens and ' : ''}${outcomeOf(reply)}`
  }
  if (reply.status === 302 && !hasCookie) {
    const { searchParams } = new URL(reply.headers.get('location') ?? '')
    return searchParams.get('status') ?? searchParams.get('error') ?? '302'
  }
  const body = reply.text === '' ? {} : reply.json()
  const hasTokens = hasCookie || 'accessToken' in body || 'refreshToken' in body
  return hasTokens ? 'tokens' : String(body['status'] ?? reply.status)
}
