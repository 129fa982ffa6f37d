/** The beginning of every text that a secret box makes, in any version. */
export const sealedPrefix = 'enc:v'

/** The whole form of such a text: version, id of the key, nonce, ciphertext with its tag. */
const sealedForm = /^enc:v\d{1,3}:[\w-]{1,32}:[\w-]{16}:[\w-]{23,}$/

/** Whether the text has the form that a secret box makes. No field takes a value of this form. */
export function isSealedText(text: string): boolean {
  return text.startsWith(sealedPrefix) && sealedForm.test(text)
}
