import type { ClientEnvironment, ClientLocks, ClientStorage } from './client-environment.js'

type PageDocument = EventTarget & { readonly cookie: string; readonly visibilityState: string }

/** What pages have and servers may lack. */
interface PageGlobals {
  readonly location?: { readonly href: string }
  readonly navigator?: { readonly locks?: ClientLocks; readonly userAgent?: string }
  readonly localStorage?: ClientStorage
  readonly document?: PageDocument
  readonly addEventListener?: EventTarget['addEventListener']
  readonly removeEventListener?: EventTarget['removeEventListener']
}

/** The browser's own. On a server, without locks, storage and channel. */
export function browserEnvironment(): ClientEnvironment {
  const { location, navigator, document: page }: PageGlobals = globalThis
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
    cookies: page ? () => page.cookie : null,
    onShown: page ? (run) => whenShown(page, run) : null,
    pageUrl: location?.href ?? 'http://localhost',
  }
}

function whenShown(page: PageDocument, run: (isRestored: boolean) => void): () => void {
  const shown = () => page.visibilityState === 'visible' && run(false)
  const returned = (event: object) => 'persisted' in event && event.persisted === true && run(true)
  const { addEventListener: add, removeEventListener: remove }: PageGlobals = globalThis
  page.addEventListener('visibilitychange', shown)
  add?.('pageshow', returned)
  return () => {
    page.removeEventListener('visibilitychange', shown)
    remove?.('pageshow', returned)
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
