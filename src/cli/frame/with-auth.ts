import { type Auth, type AuthOptions, createAuth, type Logger } from 'postern'
import type { Call } from './command.js'

/**
 * Works with what the host's options build. The sweep stays with the host's processes, and what the library logs goes to
 * the person.
 */
export async function withAuth<Result>(
  call: Pick<Call, 'err'>,
  options: AuthOptions,
  work: (auth: Auth) => Promise<Result>,
): Promise<Result> {
  const auth = await createAuth({ ...options, sweep: false, logger: logTo(call.err) })
  try {
    return await work(auth)
  } finally {
    await auth.close()
  }
}

function logTo(err: (text: string) => void): Logger {
  const quiet = () => undefined
  return {
    debug: quiet,
    info: quiet,
    warn: (message) => err(`warning: ${message}`),
    error: (message) => err(`error: ${message}`),
  }
}
