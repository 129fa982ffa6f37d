import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { AuthOptions, SurfaceOptions } from 'postern'
import {
  type CookiePrefix,
  type OpenApiDocument,
  openApiDocument,
  operationOptions,
} from 'postern/openapi'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'

type Surface = keyof AuthOptions['surfaces']

const both: readonly Surface[] = ['operator', 'client']

export const openapiCommand: Command = {
  help: `Usage: postern openapi [--surface NAME] [--prefix PATH] [--check FILE]

Writes the OpenAPI 3.1 document of the routes that the host mounts, as JSON.
Servers and names of cookies are those of the host's options. The database is
not asked, and no key is used.

  --surface NAME   operator or client: what auth.operator or auth.client serve
                   alone. Default all of the host, as auth.both
  --prefix PATH    the path that the routes are mounted below, such as /identity
  --title TEXT     the title of the document. Default Authentication
  --api-version V  the version of the host's API. Default 1.0.0
  --check FILE     writes nothing, and says whether FILE is that document

Exit code 1: FILE is another document, or is not there.

  postern openapi --surface client > auth.json
  npx openapi-typescript auth.json -o auth-api.d.ts`,
  flags: {
    surface: { type: 'string' },
    prefix: { type: 'string' },
    title: { type: 'string' },
    'api-version': { type: 'string' },
    check: { type: 'string' },
  },
  async run(call) {
    const asked = surfacesOf(call)
    const prefix = prefixOf(call)
    const document = documentOf(call, { asked, prefix, options: await call.config() })
    const { check } = call.flags
    if (typeof check === 'string') return compare(call, check, document)
    call.out(JSON.stringify(document, null, 2))
    return 0
  },
}

function surfacesOf({ flags }: Call): readonly Surface[] {
  if (flags['surface'] === undefined) return both
  const surface = both.find((name) => name === flags['surface'])
  if (surface === undefined) throw new Refusal('--surface takes operator or client.', 2)
  return [surface]
}

function prefixOf({ flags }: Call): string {
  const { prefix = '' } = flags
  if (typeof prefix !== 'string' || !/^(?:\/[\w.~-]+)*$/.test(prefix)) {
    throw new Refusal('--prefix takes a path such as /identity, without a slash at its end.', 2)
  }
  return prefix
}

interface Wanted {
  readonly asked: readonly Surface[]
  readonly prefix: string
  readonly options: AuthOptions
}

function documentOf({ flags }: Call, { asked, prefix, options }: Wanted): OpenApiDocument {
  const given: Partial<AuthOptions['surfaces']> = options.surfaces
  const surfaces = asked.filter((surface) => given[surface] !== undefined)
  if (surfaces.length === 0) throw new Refusal(`This host has no ${asked.join()} surface.`)
  const own = surfaces.map((surface) => options.surfaces[surface])
  const [cookiePrefix, ...others] = new Set(own.map(cookiePrefixOf))
  const [namePrefix = '', ...more] = new Set(own.map((surface) => surface.cookieNamePrefix ?? ''))
  if (cookiePrefix === undefined || others.length + more.length > 0) {
    throw new Refusal(
      'The surfaces name their cookies in different ways. Write a document for each, with --surface.',
    )
  }
  const surfaceOptions = operationOptions.filter((option) => own.some((of) => of[option] === true))
  for (const option of surfaceOptions) {
    if (own.every((of) => of[option] === true)) continue
    throw new Refusal(
      `The option ${option} differs between the surfaces. Write a document for each, with --surface.`,
    )
  }
  const { title, 'api-version': version } = flags
  return openApiDocument({
    surfaces,
    servers: [...new Set(own.map((surface) => serverOf(surface, prefix)))].map((url) => ({ url })),
    cookiePrefix,
    cookieNamePrefix: namePrefix,
    ...(surfaceOptions.length > 0 && { surfaceOptions }),
    ...(typeof title === 'string' && { title }),
    ...(typeof version === 'string' && { version }),
  })
}

/** RFC 6265bis §4.1.3: the same choice that the routes make. */
function cookiePrefixOf({ baseUrl, cookieDomain }: SurfaceOptions): CookiePrefix {
  if (new URL(baseUrl).protocol !== 'https:') return ''
  return cookieDomain === undefined ? '__Host-' : '__Secure-'
}

/** `routesUrl` has the path of the mount in it. */
function serverOf({ baseUrl, routesUrl }: SurfaceOptions, prefix: string): string {
  if (routesUrl !== undefined && prefix === '') return routesUrl.replace(/\/$/, '')
  return `${new URL(routesUrl ?? baseUrl).origin}${prefix}`
}

async function compare(call: Call, file: string, document: OpenApiDocument): Promise<number> {
  const found = await readFile(resolve(call.cwd, file), 'utf8').catch(() => null)
  const isSame = found !== null && sameJson(found, document)
  const told = found === null ? 'there is no such file' : 'it holds another document'
  if (call.json) call.out(JSON.stringify({ file, isSame }))
  else
    call.out(
      isSame
        ? `${file} is the document of this host.`
        : `${file}: ${told}. Run the command without --check, and write its output there.`,
    )
  return isSame ? 0 : 1
}

/** True for the same JSON, whatever a formatter made of the spaces. */
function sameJson(text: string, document: OpenApiDocument): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(document)
  } catch {
    return false
  }
}
