import { dictionary } from '@zxcvbn-ts/language-common'

export { isGuessable } from './guessable.js'

/** Some 49,000 passwords that are tried first. Importing this takes about 20 ms and 7 MB. */
export const commonPasswordList: ReadonlySet<string> = new Set(dictionary['passwords-common'])
