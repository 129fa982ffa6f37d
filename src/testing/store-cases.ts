import { type ConformanceCase, casesOf, type MakeBackend } from './conformance-case.js'
import { storeSetup } from './sample.js'
import { basics } from './store/basics.js'
import { expiry } from './store/expiry.js'
import { finding } from './store/finding.js'
import { guards } from './store/guards.js'
import { preparing } from './store/preparing.js'
import { races } from './store/races.js'
import { rejections } from './store/rejections.js'
import { uniqueness } from './store/uniqueness.js'
import { values } from './store/values.js'

/**
 * What every `Store` must keep, races included. For the races to mean anything, the backend must
 * be able to carry out several calls at once: give a pool, not a single connection.
 *
 * @example
 * for (const { name, run } of storeCases(async () => myBackend())) test(name, run)
 */
export function storeCases(make: MakeBackend): readonly ConformanceCase[] {
  const scripts = {
    ...basics,
    ...uniqueness,
    ...guards,
    ...rejections,
    ...finding,
    ...values,
    ...expiry,
    ...preparing,
    ...races,
  }
  return casesOf(scripts, () => storeSetup(make))
}
