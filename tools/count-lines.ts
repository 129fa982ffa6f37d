import { countedBlocks } from './api/counted-blocks.js'

for (const { name, page, lines, most } of countedBlocks()) {
  console.log(`${String(lines).padStart(4)} of ${most}  ${name} (docs/${page})`)
  if (lines > most) process.exitCode = 1
}
