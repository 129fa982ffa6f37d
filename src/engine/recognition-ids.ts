import { keysIn } from './kept-keys.js'

/** 128 random bits in base64url. */
const length = 22

/** The recognition ids in what a browser or app keeps: one for each account that signed in there. */
export function recognitionIds(kept: string | null): readonly string[] {
  return keysIn(kept, length)
}
