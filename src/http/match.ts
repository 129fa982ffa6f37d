import type { Operation } from '../operations/operation.js'
import type { Surface } from '../ports/surface.js'

export type Match =
  | { readonly kind: 'operation'; readonly operation: Operation }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'none' }

export interface Matcher {
  /** By exact path: percent-encoded spellings and trailing slashes are other paths. */
  match(method: string, path: string): Match
}

/** The routes of one surface. HEAD goes where GET goes; adapters drop the body. */
export function matcherOf(operations: readonly Operation[], surface: Surface): Matcher {
  const routes = new Map<string, Map<string, Operation>>()
  for (const operation of operations) {
    if (!operation.surfaces.includes(surface)) continue
    const paths = [operation.path.replace('{surface}', surface), operation.bareAlias]
    for (const path of paths) {
      if (path === undefined) continue
      const byMethod = routes.get(path) ?? new Map<string, Operation>()
      byMethod.set(operation.method, operation)
      routes.set(path, byMethod)
    }
  }
  return {
    match(method, path) {
      const byMethod = routes.get(path)
      if (byMethod === undefined) return { kind: 'none' }
      const operation = byMethod.get(method === 'HEAD' ? 'GET' : method)
      if (operation !== undefined) return { kind: 'operation', operation }
      const allow = [...byMethod.keys()].flatMap((known) =>
        known === 'GET' ? ['GET', 'HEAD'] : [known],
      )
      return { kind: 'method', allow }
    },
  }
}
