import { type FieldDeclaration, isSecret } from './config-declaration.js'
import { fieldsByKey, keyLocator } from './config-keys.js'

/** How the secret box begins every text it makes, whatever the version. */
const sealedPrefix = 'enc:v'

/**
 * Tells which stored texts are secrets: by the declaration, and for keys that no declaration
 * accounts for (any more) by being encrypted.
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
