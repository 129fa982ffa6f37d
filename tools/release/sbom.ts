import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface Sbom {
  readonly metadata: { readonly component: object }
  readonly components: readonly { readonly name: string; readonly version: string }[]
  readonly dependencies?: unknown
}

/** A package in the lock file. */
interface Locked {
  readonly version: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly peer?: boolean
}

/** Where no file is named. */
const standard = '.results/sbom.json'

/** All packages of the lock file, as npm lists them. With `--omit dev` it leaves out what a tool brings as well. */
function listed(): Sbom {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    encoding: 'utf8',
    // What npm says beside the list is of no use here.
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  })
  return JSON.parse(text)
}

/** Those that are installed with the package, as `name@version`. */
function installed(): ReadonlySet<string> {
  const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  const own = Object.entries(packages).filter(([path, { dev, devOptional, peer }]) => {
    return path !== '' && !dev && !devOptional && !peer
  })
  return new Set(
    own.map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`,
    ),
  )
}

/** Everything of others that users get. */
function sbom(): Sbom {
  const { name } = JSON.parse(readFileSync('package.json', 'utf8'))
  const all = listed()
  const own = installed()
  const components = all.components.filter((one) => own.has(`${one.name}@${one.version}`))
  // npm takes the name of the folder for that of the package, and lists how each tool hangs together.
  const { dependencies: _, metadata, ...rest } = all
  const component = { ...metadata.component, name }
  return { ...rest, metadata: { ...metadata, component }, components }
}

const [file = standard] = process.argv.slice(2)
mkdirSync(dirname(file), { recursive: true })
const written = sbom()
writeFileSync(file, `${JSON.stringify(written, null, 1)}\n`)
console.log(`${file}: ${written.components.length} packages`)
