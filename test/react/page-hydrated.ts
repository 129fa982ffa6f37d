// What a page of React loads.
import { createElement } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { createClient, type SessionState } from '../../src/client/index.js'
import type { SessionClient } from '../../src/react/index.js'
import { App, shown } from './page-app.js'

/** The part of a page that this one uses. */
declare const document: {
  readonly body: { append(element: Element): void }
  createElement(name: string): Element
  getElementById(id: string): Element | null
}

const client = createClient({ surface: 'client' })
const errors: string[] = []

Object.assign(globalThis, {
  client,
  shown,
  errors,
  /** Takes over what the server rendered, as soon as `before` is done. */
  async hydrate(initialState: undefined, before: 'restored' | 'at once') {
    if (before === 'restored') await client.restore()
    const root = document.getElementById('root')
    if (root === null) throw new Error('no root')
    const onError = (error: { kind: string }) => errors.push(error.kind)
    const given = { client, onError, ...(initialState ? { initialState } : {}) }
    const onRecoverableError = (error: unknown) => errors.push(String(error))
    hydrateRoot(root, createElement(App, given as never), { onRecoverableError })
  },
  /** A tree of a client whose state is what the test says. */
  scripted(initialState: SessionState) {
    let state: SessionState = { status: 'loading' }
    const listeners = new Set<() => void>()
    const scripted: SessionClient = {
      get: () => state,
      subscribe(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      restore: async () => state,
    }
    const element = document.createElement('div')
    document.body.append(element)
    createRoot(element).render(createElement(App, { client: scripted, initialState }))
    return (next: SessionState) => {
      state = next
      for (const listener of listeners) listener()
    }
  },
  /** A second tree of the same client, as after a navigation. */
  again() {
    const element = document.createElement('div')
    document.body.append(element)
    createRoot(element).render(createElement(App, { client }))
  },
})
