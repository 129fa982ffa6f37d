import { randomBytes } from 'node:crypto'
import type { Random } from '../ports/random.js'

/** The operating system's generator. */
export const systemRandom: Random = { bytes: (length) => randomBytes(length) }
