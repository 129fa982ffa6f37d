import { elementPrefix, readRecordList } from '../engine/configuration/config-keys.js'
import { ConfigValidationError, ValueRefusal } from '../errors/index.js'
import type { IsPublicAddress } from './address-rules.js'
import { authSettingDeclarations, findSetting } from './index.js'

/**
 * Refuses an element's address or domain that cannot be meant, where `isTouched` names its keys. `firstValues`: it may be
 * what only the host's code and environment may give.
 */
export function listProblem(
  values: Readonly<Record<string, string>>,
  isTouched: (elementPrefix: string) => boolean,
  isPublicAddress: IsPublicAddress,
  firstValues = false,
): ConfigValidationError | null {
  for (const { key } of authSettingDeclarations) {
    const rule = findSetting(key)?.list
    if (rule === undefined) continue
    for (const element of readRecordList({ key, items: rule.items }, values)) {
      const prefix = elementPrefix(key, element.slug)
      const text = element[rule.item] ?? ''
      if (text === '' || !isTouched(prefix)) continue
      const found = rule.problem(text, element, { firstValues, isPublicAddress })
      if (found !== null) {
        const place = prefix + rule.item
        const refused = new ConfigValidationError(place, `"${place}" ${found}.`, rule.code)
        return new ValueRefusal(refused)
      }
    }
  }
  return null
}
