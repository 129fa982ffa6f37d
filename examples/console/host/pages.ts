import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Request, type RequestHandler, Router } from 'express'

const folder = fileURLToPath(new URL('../pages/', import.meta.url))

/** The one document of a surface. Its script draws the page of the address. */
const documentOf = (script: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postern</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/console.css">
<script type="module" src="/${script}.js"></script>
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`

/** The scripts of both surfaces, by file name. */
async function bundles(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { client: `${folder}client/main.ts`, operator: `${folder}operator/main.ts` },
    outdir: folder,
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  })
  return new Map(outputFiles.map(({ path, text }) => [path.slice(folder.length), text]))
}

/** Serves what the pages are made of, and the document at every path that is left. */
export async function consolePages(isOperator: (request: Request) => boolean): Promise<Router> {
  const scripts = await bundles()
  const style = await readFile(`${folder}console.css`, 'utf8')
  const icon = await readFile(`${folder}icon.svg`, 'utf8')
  const router = Router()
  for (const [name, script] of scripts) router.get(`/${name}`, text('text/javascript', script))
  router.get('/console.css', text('text/css', style))
  router.get('/icon.svg', text('image/svg+xml', icon))
  router.get(/^\/(?!v1\/)[^.]*$/, (request, response) => {
    const script = isOperator(request) ? 'operator' : 'client'
    response.type('html').set('Cache-Control', 'no-cache').send(documentOf(script))
  })
  return router
}

/** `no-cache`: kept, and asked about each time, so that a new version is there at once. */
function text(type: string, body: string): RequestHandler {
  return (_request, response) => {
    response.type(type).set('Cache-Control', 'no-cache').send(body)
  }
}
