// Talks to the MCP server with the official SDK: node mcp.mjs URL TOKEN FOLDER
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [url, token, folder] = process.argv.slice(2)
const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: {} })
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }))

const { tools } = await client.listTools()
console.log('tools:', tools.map((t) => t.name).sort().join(' '))

const text = (result) => result.content.filter((c) => c.type === 'text').map((c) => c.text).join('\n')
const told = (said) => /seven years/.exec(said)?.[0] ?? said
let heard = 0
const found = await client.callTool({ name: 'research', arguments: { question: 'How long is the warranty of the pump?', folders: [folder] } }, undefined, {
  onprogress: () => heard++,
})
console.log('progress:', heard > 0)
console.log('answer:', told(text(found)))
const { resources } = await client.listResources()
const report = await client.readResource({ uri: resources[0].uri })
console.log('report:', told(report.contents[0].text))

const asks = await client.callTool({ name: 'research', arguments: { question: 'ask', mode: 'deep_research' } })
console.log('waiting:', asks.structuredContent.asks[0].questions[0])
const done = await client.callTool({ name: 'run_answer', arguments: { run: asks.structuredContent.run, answer: 'first' } })
console.log('answered:', text(done))
const nothing = await client.callTool({ name: 'run_status', arguments: { run: 'nothing' } })
console.log('unknown:', nothing.isError === true)
await client.close()
