import { type FieldDeclaration, isSecret } from './config-declaration.js'
import { fieldsByKey, keyLocator } from './config-keys.js'

/** The beginning of every text that a secret box makes, in any version. */
const sealedPrefix = 'enc:v'

/**
 * A test for stored texts that are secrets. The declaration decides; a text under an undeclared key is
 * a secret if it is encrypted.
 */
export function secretTest(
  declarations: readonly FieldDeclaration[],
): (key: string, text: string) => boolean {
  const locate = keyLocator(fieldsByKey(declarations))
  return (key, text) => {
    const place = locate(key)
    if (place === null) return text.startsWith(sealedPrefix)
    if (place.kind === 'field') return isSecret(place.field)
    return place.kind === 'element' && place.item !== null && isSecret(place.item)
  }
}
