import { longestUrl } from '../engine/addresses.js'
import {
  FieldSecret,
  FieldSelect,
  FieldString,
} from '../engine/configuration/config-declaration.js'
import { readChoice } from '../engine/configuration/stored-value.js'
import { webhookUrlProblem } from './address-rules.js'
import type { InitialElement, RecordList } from './list-rule.js'

/** A receiver's log has bodies and signatures to try guesses on, as fast as a machine can. */
export const shortestSigningSecret = 32

const events = ['all', 'login', 'account'] as const

/** A host's endpoint that is told of security events. */
export interface InitialSecurityWebhook extends InitialElement {
  /** `https:` only. */
  readonly url: string
  /** 32 to 255 characters, such as `openssl rand -hex 32` prints. */
  readonly signingSecret: string
  /** Signs as well, while receivers change over. In the form of `signingSecret`. Default: none. */
  readonly previousSigningSecret?: string
  readonly events: (typeof events)[number]
}

export type SecurityWebhook = Required<InitialSecurityWebhook>

export const securityWebhooks: RecordList<SecurityWebhook> = {
  items: [
    { key: 'url', label: 'URL (https)', type: FieldString, required: true, max: longestUrl },
    {
      key: 'signingSecret',
      label: 'Signing secret',
      type: FieldSecret,
      required: true,
      min: shortestSigningSecret,
      max: 255,
    },
    {
      key: 'previousSigningSecret',
      label: 'Previous signing secret',
      type: FieldSecret,
      min: shortestSigningSecret,
      max: 255,
    },
    { key: 'events', label: 'Events', type: FieldSelect, required: true, options: events },
  ],
  item: 'url',
  code: 'auth.webhook_url_invalid',
  problem: (text, _element, { isPublicAddress }) => webhookUrlProblem(text, isPublicAddress),

  // A damaged entry is left out: nothing is sent unsigned.
  read(element, warn) {
    const { slug, label } = element
    const url = element['url'] ?? ''
    const signingSecret = element['signingSecret'] ?? ''
    const previousSigningSecret = element['previousSigningSecret'] ?? ''
    const chosen = readChoice(events, element['events'] ?? '')?.value
    if (url === '' || signingSecret === '' || chosen === undefined) {
      warn('it is left out')
      return []
    }
    return [{ slug, label, url, signingSecret, previousSigningSecret, events: chosen }]
  },
}
