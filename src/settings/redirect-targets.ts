import { longestUrl } from '../engine/addresses.js'
import { FieldSelect, FieldString } from '../engine/configuration/config-declaration.js'
import { readChoice } from '../engine/configuration/stored-value.js'
import { redirectProblem } from './address-rules.js'
import type { InitialElement, RecordList } from './list-rule.js'

const surfaces = ['operator', 'client'] as const
const flows = ['web', 'mobile'] as const

/** An address an OAuth flow may send the browser or the app back to. */
export interface InitialRedirectTarget extends InitialElement {
  /** Compared character by character. */
  readonly uri: string
  readonly surface: (typeof surfaces)[number]
  readonly flow: (typeof flows)[number]
  /** The app's id, required for `mobile`; read as empty for `web`. */
  readonly appId?: string
}

export type RedirectTarget = Required<InitialRedirectTarget>

export const redirectTargets: RecordList<RedirectTarget> = {
  items: [
    { key: 'uri', label: 'URI', type: FieldString, required: true, max: longestUrl },
    { key: 'surface', label: 'Surface', type: FieldSelect, required: true, options: surfaces },
    { key: 'flow', label: 'Flow', type: FieldSelect, required: true, options: flows },
    {
      key: 'appId',
      label: 'App ID',
      type: FieldString,
      required: true,
      condition: { field: 'flow', equals: 'mobile' },
      max: 255,
    },
  ],
  item: 'uri',
  code: 'auth.redirect_invalid',
  problem: (text, element, given) => redirectProblem(text, element['flow'] ?? '', given),

  // A damaged entry is left out: nothing is sent back there.
  read(element, warn) {
    const { slug, label } = element
    const uri = element['uri'] ?? ''
    const surface = readChoice(surfaces, element['surface'] ?? '')?.value
    const flow = readChoice(flows, element['flow'] ?? '')?.value
    const appId = flow === 'mobile' ? (element['appId'] ?? '') : ''
    const isApp = flow === 'mobile'
    if (uri === '' || surface === undefined || flow === undefined || (isApp && appId === '')) {
      warn('it is left out')
      return []
    }
    return [{ slug, label, uri, surface, flow, appId }]
  },
}
