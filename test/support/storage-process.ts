// One of several processes over one database: consumes what it can get and counts, then tells what it got.
// Arguments: the database as JSON, how many tickets there are, how often to count.
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { machines, tickets } from '../../adapters/storage/contract/kinds-of-records.ts'

const [where = '{}', count = '0', rounds = '0'] = process.argv.slice(2)
const { file, url, schema }: { file?: string; url?: string; schema?: string } = JSON.parse(where)
const kinds = [machines, tickets]
const storage =
  file === undefined
    ? await postgresStorage({ connection: url ?? '', kinds, ...(schema !== undefined && { schema }) })
    : await sqliteStorage(file, { kinds })
console.log('ready')

const consume = async () => {
  let got = 0
  for (let index = 0; index < Number(count); index += 1) {
    if (await storage.write((tx) => tx.collection(tickets).delete(`t${index}`))) got += 1
  }
  return got
}
const increment = async () => {
  await storage.write(async (tx) => {
    const counter = await tx.collection(tickets).get('counter')
    if (counter !== undefined) await tx.collection(tickets).update({ ...counter, uses: counter.uses + 1 })
  })
  const seen = await storage.read((tx) => tx.collection(tickets).get('counter'))
  return seen?.uses ?? 0
}
const seen: number[] = []
const counting = (async () => {
  for (let round = 0; round < Number(rounds); round += 1) seen.push(await increment())
})()
const got = await consume()
await counting
await storage.close()
console.log(JSON.stringify({ got, isGrowing: seen.every((uses, index) => uses > (seen[index - 1] ?? 0)) }))
