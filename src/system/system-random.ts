import { randomBytes } from 'node:crypto'
import type { Random } from '../ports/host.js'

/** The operating system's generator. */
export const systemRandom: Random = { bytes: (length) => randomBytes(length) }
