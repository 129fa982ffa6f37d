import type { ClientEnvironment, ClientLocks, ClientStorage } from './client-environment.js'

/** What pages have and servers may lack. */
interface PageGlobals {
  readonly location?: { readonly href: string }
  readonly navigator?: { readonly locks?: ClientLocks; readonly userAgent?: string }
  readonly localStorage?: ClientStorage
}

/** The browser's own. On a server, without locks, storage and channel. */
export function browserEnvironment(): ClientEnvironment {
  const { location, navigator }: PageGlobals = globalThis
  const isPage = location !== undefined
  return {
    fetch: (request) => fetch(request),
    now: () => Date.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    random: () => Math.random(),
    locks: (isPage && navigator?.locks) || null,
    storage: isPage ? pageStorage() : null,
    channel:
      isPage && typeof BroadcastChannel === 'function'
        ? (name) => new BroadcastChannel(name)
        : null,
    pageUrl: location?.href ?? 'http://localhost',
  }
}

/** Reading the property throws where a user refuses all storage. */
function pageStorage(): ClientStorage | null {
  try {
    const { localStorage }: PageGlobals = globalThis
    return localStorage ?? null
  } catch {
    return null
  }
}
