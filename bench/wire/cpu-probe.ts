// Loaded before a server: tells over the channel of its process, whenever it is asked, how much CPU it has used so far (ms).
process.on('message', (message) => {
  if (message !== 'cpu') return
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMs: (user + system) / 1000 })
})
