import type { Clock, Logger } from '../ports/host.js'

/** Less than container platforms commonly wait before they kill a process (30 seconds). */
const closeLimitMs = 15_000

/** Waits for `work`, and gives up after 15 seconds with a warning: a mailer may never answer. */
export async function closeInTime(
  work: readonly Promise<unknown>[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  let cancel = (): void => {}
  const limit = new Promise<'late'>((resolve) => {
    cancel = clock.after(closeLimitMs, () => resolve('late'))
  })
  try {
    if ((await Promise.race([Promise.all(work), limit])) !== 'late') return
    logger.warn(
      `close() gave up after ${closeLimitMs / 1000} seconds; mail, webhooks, audit records or a sweep under way were left behind`,
    )
  } finally {
    cancel()
  }
}
