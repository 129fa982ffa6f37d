import { elementPrefix } from '../engine/configuration/config-keys.js'
import { type RecordElement, readRecordList } from '../engine/configuration/record-list.js'
import { ConfigValidationError } from '../errors/index.js'
import { type IsPublicAddress, redirectProblem, webhookUrlProblem } from './address-rules.js'
import type { SettingKey } from './settings.js'
import { findField } from './settings-reader.js'

interface ListRule {
  readonly field: SettingKey
  readonly item: string
  readonly code: string
  /** What is wrong with a sub-field that is not empty. */
  problem(text: string, element: RecordElement, isPublicAddress: IsPublicAddress): string | null
}

const rules: readonly ListRule[] = [
  {
    field: 'registrationAllowedDomains',
    item: 'domain',
    code: 'auth.value_out_of_range',
    problem: (text) =>
      /^[^\s@/.][^\s@/]*$/.test(text) ? null : "must be a domain such as 'example.org'",
  },
  {
    field: 'oauthRedirectTargets',
    item: 'uri',
    code: 'auth.redirect_invalid',
    problem: (text, element) =>
      redirectProblem(text, element['flow'] ?? '', { firstValues: false }),
  },
  {
    field: 'securityWebhooks',
    item: 'url',
    code: 'auth.webhook_url_invalid',
    problem: (text, _element, isPublicAddress) => webhookUrlProblem(text, isPublicAddress),
  },
]

/** Refuses an element's address or domain that cannot be meant, where `isTouched` names its keys. */
export function listProblem(
  values: Readonly<Record<string, string>>,
  isTouched: (elementPrefix: string) => boolean,
  isPublicAddress: IsPublicAddress,
): ConfigValidationError | null {
  for (const { field, item, code, problem } of rules) {
    const declaration = findField(field)
    if (declaration === undefined) continue
    for (const element of readRecordList(declaration, values)) {
      const prefix = elementPrefix(field, element.slug)
      const text = element[item] ?? ''
      if (text === '' || !isTouched(prefix)) continue
      const found = problem(text, element, isPublicAddress)
      if (found !== null) {
        return new ConfigValidationError(prefix + item, `"${prefix}${item}" ${found}.`, code)
      }
    }
  }
  return null
}
