import type { Operation } from '../operations/operation.js'
import type { Surface } from '../ports/surface.js'

export type Match =
  | {
      readonly kind: 'operation'
      readonly operation: Operation
      /** What stood in the path for `{name}` and the like, still percent-encoded. */
      readonly params: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'method'
      readonly allow: readonly string[]
      /** False where no page of another origin may call any of them. */
      readonly forPages: boolean
    }
  | { readonly kind: 'none' }

export interface Matcher {
  /** By exact path: percent-encoded spellings and trailing slashes are other paths. */
  match(method: string, path: string): Match
}

type ByMethod = Map<string, Operation>

interface Found {
  readonly byMethod: ByMethod
  readonly params: Readonly<Record<string, string>>
}

/**
 * The routes of one surface. HEAD goes where GET goes, if that only reads (RFC 9110 §9.2.1); adapters
 * drop the body.
 */
export function matcherOf(operations: readonly Operation[], surface: Surface): Matcher {
  const routes = new Map<string, ByMethod>()
  for (const operation of operations) {
    if (!operation.surfaces.includes(surface)) continue
    const paths = [operation.path.replace('{surface}', surface), operation.unprefixedPath]
    for (const path of paths) {
      if (path === undefined) continue
      const byMethod: ByMethod = routes.get(path) ?? new Map()
      byMethod.set(operation.method, operation)
      routes.set(path, byMethod)
    }
  }
  const templates = [...routes].filter(([path]) => path.includes('{'))

  function find(path: string): Found | null {
    const exact = path.includes('{') ? undefined : routes.get(path)
    if (exact !== undefined) return { byMethod: exact, params: {} }
    for (const [template, byMethod] of templates) {
      const params = paramsOf(template, path)
      if (params !== null) return { byMethod, params }
    }
    return null
  }

  return {
    match(method, path) {
      const found = find(path)
      if (found === null) return { kind: 'none' }
      const { byMethod, params } = found
      const operation = byMethod.get(method === 'HEAD' ? 'GET' : method)
      if (operation !== undefined && (method !== 'HEAD' || onlyReads(operation))) {
        return { kind: 'operation', operation, params }
      }
      const allow = [...byMethod].flatMap(([known, one]) =>
        known === 'GET' && onlyReads(one) ? ['GET', 'HEAD'] : [known],
      )
      return { kind: 'method', allow, forPages: [...byMethod.values()].some((one) => !one.oauth2) }
    },
  }
}

/** What leads a browser on begins a flow to a provider or spends one, as a link scanner must not. */
function onlyReads({ method, status }: Operation): boolean {
  return method === 'GET' && status !== 302
}

/** The texts in place of a template's `{…}`; null for a path of another form. */
function paramsOf(template: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = template.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return null
  const params: [string, string][] = []
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? ''
    if (!segment.startsWith('{')) {
      if (segment !== text) return null
    } else if (text === '') return null
    else params.push([segment.slice(1, -1), text])
  }
  return Object.fromEntries(params)
}
