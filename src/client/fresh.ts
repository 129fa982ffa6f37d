import type { ClientEnvironment } from './client-environment.js'
import type { SessionKeeper } from './session-keeper.js'

/** Renews the token where that is due. With a token that is still good, only an end rejects. */
export async function fresh(
  session: SessionKeeper,
  { now }: Pick<ClientEnvironment, 'now'>,
): Promise<void> {
  if (session.token === null || now() < session.dueAt) return
  try {
    await session.renew()
  } catch (error) {
    if (session.token === null || now() >= session.expiresAt) throw error
  }
}
