import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const sources = fileURLToPath(new URL('./mongo-server/', import.meta.url))
const cache = fileURLToPath(new URL('../../../node_modules/.cache/postern-test/', import.meta.url))

/**
 * The Java class path of `StandIn`: fetched from Maven Central and compiled once, then kept until
 * its sources change. Null, with the reason on standard error, where Java or Maven is missing.
 */
export async function buildStandIn(): Promise<string | null> {
  const texts = ['pom.xml', 'StandIn.java'].map((name) => readFile(join(sources, name), 'utf8'))
  const version = createHash('sha256')
    .update((await Promise.all(texts)).join())
    .digest('hex')
  const folder = join(cache, `mongo-server-${version.slice(0, 16)}`)
  const built = await builtAt(folder)
  if (built !== null) return built
  try {
    await build(folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    console.error(`no MongoDB, and none to stand in for it (needs a JDK and Maven): ${why}`)
    return null
  }
  return builtAt(folder)
}

async function builtAt(folder: string): Promise<string | null> {
  const libraries = await readFile(join(folder, 'classpath'), 'utf8').catch(() => null)
  // Maven's own folder of libraries may have been emptied since.
  const [first] = (libraries ?? '').split(delimiter)
  const isThere = first ? await readFile(first).then(Boolean, () => false) : false
  return libraries !== null && isThere ? [folder, libraries].join(delimiter) : null
}

/** Elsewhere first: two runs may build at the same time. */
async function build(folder: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, 'draft-'))
  const classpath = join(draft, 'classpath')
  await run('mvn', [
    ...['-B', '-q', '-ntp', '-f', join(sources, 'pom.xml')],
    ...['org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath'],
    `-Dmdep.outputFile=${classpath}`,
  ])
  const libraries = (await readFile(classpath, 'utf8')).trim()
  await writeFile(classpath, libraries)
  await run('javac', ['-cp', libraries, '-d', draft, join(sources, 'StandIn.java')])
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
}
