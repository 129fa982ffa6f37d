import { checkHistory } from '../../reliability/checker.js'
import { type EnvironmentCall, environmentModel } from '../../reliability/environment-model.js'
import { type Exchange, type History, succeeded } from '../history.js'
import { stateIn } from '../shop.js'
import type { Judged, Predicate } from './judged.js'

/** How long a process may go by what it read before. */
const staleMs = 30_000

const isOf = ({ operation, ended }: Exchange): boolean =>
  ended !== null && (operation === 'readShop' || operation === 'editShop')

/** One environment as a call of its clients. An answer that says nothing may still come about. */
function callOf(op: EnvironmentCall['op'], { begun, ended, status, code, body }: Exchange) {
  // What ended at a step had ended before anything began at it.
  const times = { invokedAt: 2 * begun + 1, returnedAt: 2 * (ended ?? begun) }
  const isRefused = ended !== null && status >= 400 && status < 500
  if (isRefused) return { op, ...times, result: { kind: 'refused' as const, code } }
  if (ended === null || status >= 500) return { op, ...times, result: null }
  return { op, ...times, result: { kind: 'seen' as const, state: stateIn(body) } }
}

/** No edit is lost or done twice, and each shows what it made: the calls have an order that explains them. */
function inOrder({ exchanges }: History): Judged {
  const calls = exchanges.flatMap((one) => (one.edit === null ? [] : [callOf(one.edit, one)]))
  // No clock: a search that takes long is shortened by fewer calls.
  const verdict = checkHistory(environmentModel, calls, () => 0)
  const violations = verdict.verdict === 'legal' ? [] : [JSON.stringify(verdict)]
  return { premises: calls.length, violations }
}

/** Each revision follows the one before it. */
function gapless({ revised }: History): Judged {
  const wrong = revised.filter(({ revision }, index) => revision !== index + 2)
  return { premises: revised.length, violations: wrong.map((one) => `revision ${one.revision}`) }
}

/** What a process reads was in force less than 30 seconds before it was asked, and its own edits at once. */
function fresh({ exchanges, revised }: History): Judged {
  const first = { revision: 1, text: '', roster: [], step: -1, at: 0 }
  const all = [first, ...revised]
  const edits = exchanges.filter((one) => one.operation === 'editShop' && succeeded(one))

  function isWrong(read: Exchange): boolean {
    const own = edits.filter(({ replica, ended }) => {
      return replica === read.replica && ended !== null && ended <= read.begun
    })
    const least = Math.max(1, ...own.map(({ body }) => stateIn(body).revision))
    return !all.some(({ revision, text, roster, step }, index) => {
      const replaced = all[index + 1]
      const isInTime = replaced === undefined || replaced.at > read.begunAt - staleMs
      const isThere = step < (read.ended ?? 0) && isInTime && revision >= least
      return isThere && JSON.stringify({ text, roster }) === read.body
    })
  }

  const reads = exchanges.filter((one) => one.operation === 'readShop' && isOf(one))
  const answered = reads.filter(succeeded)
  const wrong = answered.filter(isWrong).map(({ actor, begun }) => `${actor} read old at ${begun}`)
  return { premises: answered.length, violations: wrong }
}

/** No answer to an editor shows a secret. */
function sealed({ exchanges, secrets }: History): Judged {
  const texts = [...(secrets.get('shop') ?? [])]
  const shown = exchanges.filter(({ edit, operation }) => edit !== null || operation === 'readShop')
  const wrong = shown.filter(({ body }) => texts.some((text) => body.includes(text)))
  return { premises: 0, violations: wrong.map(({ begun }) => `a secret is shown at ${begun}`) }
}

/** I14: revisions without a gap, no lost edit, no readable secret, and nothing older than 30 seconds. */
export const configuration: Predicate = (history) => {
  const all = [inOrder, gapless, fresh, sealed].map((part) => part(history))
  return {
    premises: all.reduce((sum, { premises }) => sum + premises, 0),
    violations: all.flatMap(({ violations }) => violations),
  }
}
