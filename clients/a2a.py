"""Sends tasks with the official A2A SDK: python a2a.py AGENT_URL TOKEN OTHERS_TOKEN"""
import sys

# The name of this script is that of the SDK's package.
sys.path.pop(0)

import asyncio
import uuid

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskState,
)

url, token, others = sys.argv[1:]


def state(status):
    return TaskState.Name(status.state).removeprefix("TASK_STATE_")


def text(parts):
    return "".join(p.text for p in parts)


def said(task):
    """The state of a task, and its answer or its question."""
    words = "".join(text(a.parts) for a in task.artifacts) or text(task.status.message.parts)
    return f"{state(task.status)} {words}".strip()


def message(words, task=None, at_once=False):
    m = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=words)])
    if task:
        m.task_id, m.context_id = task.id, task.context_id
    return SendMessageRequest(message=m, configuration=SendMessageConfiguration(return_immediately=at_once))


async def connect(key, streaming):
    http = httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
    return await create_client(url, ClientConfig(streaming=streaming, httpx_client=http))


async def send(client, *args, **more):
    async for reply in client.send_message(message(*args, **more)):
        return reply.task


async def main():
    client = await connect(token, streaming=False)
    print("card:", (await client.get_card() if hasattr(client, "get_card") else client._card).name)
    task = await send(client, "What is the answer?")
    print("sent:", said(task))
    print("got:", said(await client.get_task(GetTaskRequest(id=task.id))))

    streaming = await connect(token, streaming=True)
    last, answer = "", ""
    async for reply in streaming.send_message(message("What is the answer?")):
        if reply.HasField("task"):
            last = state(reply.task.status)
        elif reply.HasField("status_update"):
            last = state(reply.status_update.status)
        elif reply.HasField("artifact_update"):
            answer += text(reply.artifact_update.artifact.parts)
    print("streamed:", last, answer)

    task = await send(client, "Is it unclear?")
    print("asked:", said(task))
    print("answered:", said(await send(client, "the second one", task)))

    task = await send(client, "Think slowly.", at_once=True)
    print("begun:", state(task.status))
    print("cancelled:", state((await client.cancel_task(CancelTaskRequest(id=task.id))).status))
    print("after:", state((await client.get_task(GetTaskRequest(id=task.id))).status))

    try:
        print("another:", said(await (await connect(others, streaming=False)).get_task(GetTaskRequest(id=task.id))))
    except Exception as refusal:
        print("another: refused" if "not found" in str(refusal).lower() else f"another: {refusal!r}")


asyncio.run(main())
