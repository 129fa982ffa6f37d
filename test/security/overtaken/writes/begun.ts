import { type StartName, starts } from '../../intents/starts.js'
import type { Fields } from '../other-process.js'
import type { OvertakenWrite } from '../overtaken-write.js'

/** The act is the last request of an intent of that table. */
export const started =
  (name: StartName): OvertakenWrite['begin'] =>
  async (host) =>
    (await starts[name].begin(host)).finish

/** What the field holds, and so many more. */
export const plus =
  (field: string, count = 1) =>
  (seen: Fields): number =>
    Number(seen[field]) + count
