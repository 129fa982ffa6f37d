import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { withCall } from '../../support/stores/faulty-backend.js'

/** A host whose backend goes away after so many more calls, until it is back. */
export async function mortalHost(settings: Readonly<Record<string, string>> = {}) {
  let left = Number.POSITIVE_INFINITY
  const host = await openHost({
    ...withoutLimits,
    settings: { ...withoutLimits.settings, ...settings },
    wrapBackend: (backend) =>
      withCall(backend, async (name, work) => {
        if (/module|counter/.test(name)) return work()
        if (left <= 0) throw new Error('away')
        left -= 1
        return work()
      }),
  })
  return {
    host,
    diesAfter(calls: number) {
      left = calls
    },
    isBack() {
      left = Number.POSITIVE_INFINITY
    },
  }
}
